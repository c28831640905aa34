/*
 * Which rows are shown, so that nothing moves under somebody's eyes: rows that
 * leave the filter stay for a while, and new ones do not push what is looked at.
 */

/** How long a row that left the filter stays, in milliseconds. */
export const LINGER = 3000;

interface Item {
  id: string;
}

export interface Steady<T extends Item> {
  /** In the order of the table. */
  rows: T[];
  /** Rows that are shown though they left, with the time at which they did. */
  leaving: Map<string, number>;
  /** New rows that wait for a click. */
  held: T[];
}

export const nothingYet = { rows: [], leaving: new Map(), held: [] } satisfies Steady<Item>;

interface Look {
  /** Ids of rows above which nothing may appear: the first in view, the focused one, the one pointed at. */
  anchors: string[];
  /** The pointer is over the table: what left stays. */
  pointed: boolean;
  now: number;
}

/**
 * The next state, from the rows that fit now, in their order. Where a row that
 * left stands, its neighbour above says.
 */
export function steady<T extends Item>(before: Steady<T>, wanted: T[], look: Look): Steady<T> {
  const fits = new Map(wanted.map((row) => [row.id, row]));
  const shown = new Set(before.rows.map((row) => row.id));
  const leaving = new Map<string, number>();
  for (const row of before.rows) {
    if (fits.has(row.id)) continue;
    const since = before.leaving.get(row.id) ?? look.now;
    if (look.pointed || look.now - since < LINGER) leaving.set(row.id, since);
  }
  const lowest = lowestAnchor(wanted, look.anchors, shown);
  const held = wanted.filter((row, i) => !shown.has(row.id) && i < lowest);
  const waits = new Set(held.map((row) => row.id));
  const rows = wanted.filter((row) => !waits.has(row.id));
  for (const [i, row] of before.rows.entries()) {
    if (!leaving.has(row.id)) continue;
    const above = before.rows.slice(0, i).findLast((one) => fits.has(one.id) || leaving.has(one.id));
    rows.splice(above ? rows.findIndex((one) => one.id === above.id) + 1 : 0, 0, row);
  }
  return { rows, leaving, held };
}

/** The place in the order above which new rows would push what is looked at. */
function lowestAnchor<T extends Item>(wanted: T[], anchors: string[], shown: Set<string>): number {
  return Math.max(-1, ...anchors.map((id) => (shown.has(id) ? wanted.findIndex((row) => row.id === id) : -1)));
}
