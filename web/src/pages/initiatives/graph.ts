/** A task of the graph: its id and what comes before it. */
export interface GraphTask {
  id: string;
  dependsOn: string[];
  done: boolean;
}

export interface GraphNode {
  id: string;
  column: number;
  x: number;
  y: number;
}

export interface GraphEdge {
  from: string;
  to: string;
  /** Lies on the longest chain of what is left. */
  heavy: boolean;
  path: string;
  /** Where it ends: the tip of its arrow. */
  tip: { x: number; y: number };
}

export interface GraphLayout {
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
  /** The ids of the longest chain of tasks that are not done, first to last. */
  chain: string[];
}

/** Sizes of the strip, in pixels. */
export const NODE = { width: 168, height: 36, gapX: 42, gapY: 12, left: 16, top: 10 };

/**
 * Lays tasks out in columns: a task stands right of everything that it depends
 * on. In a column they are ordered by where their neighbours on the left stand,
 * so that few lines cross. What depends on itself in a circle is shown as far as
 * it goes. The work is linear in tasks and lines, but for sorting each column.
 */
export function layout(tasks: GraphTask[]): GraphLayout {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const before = (id: string) => (known.get(id)?.dependsOn ?? []).filter((one) => known.has(one));
  const order = topological(tasks, before);
  const column = new Map<string, number>();
  for (const id of order) column.set(id, Math.max(-1, ...before(id).map((one) => column.get(one) ?? -1)) + 1);

  const nodes = place(order, column, before);
  const at = new Map(nodes.map((node) => [node.id, node]));
  const chain = longest(order, before, known);
  const heavy = new Set(chain.slice(1).map((id, i) => `${chain[i]}>${id}`));
  const edges = nodes.flatMap((to) =>
    before(to.id).flatMap((id): GraphEdge[] => {
      const from = at.get(id);
      return from ? [{ from: id, to: to.id, heavy: heavy.has(`${id}>${to.id}`), path: curve(from, to), tip: tipOf(to) }] : [];
    }),
  );
  return {
    nodes,
    edges: edges.sort((a, b) => Number(a.heavy) - Number(b.heavy)), // the heavy ones are painted last
    width: NODE.left + Math.max(0, ...nodes.map((node) => node.x + NODE.width)),
    height: NODE.top + Math.max(0, ...nodes.map((node) => node.y + NODE.height)),
    chain,
  };
}

/** Tasks after what they depend on; of a circle in the order in which they come. */
function topological(tasks: GraphTask[], before: (id: string) => string[]): string[] {
  const missing = new Map(tasks.map((task) => [task.id, before(task.id).length]));
  const after = new Map<string, string[]>();
  for (const task of tasks) for (const one of before(task.id)) after.set(one, [...(after.get(one) ?? []), task.id]);
  const out = tasks.filter((task) => missing.get(task.id) === 0).map((task) => task.id);
  for (const id of out) {
    for (const next of after.get(id) ?? []) {
      const left = (missing.get(next) ?? 0) - 1;
      missing.set(next, left);
      if (left === 0) out.push(next);
    }
  }
  const seen = new Set(out);
  return [...out, ...tasks.filter((task) => !seen.has(task.id)).map((task) => task.id)];
}

function place(order: string[], column: Map<string, number>, before: (id: string) => string[]): GraphNode[] {
  const columns: string[][] = [];
  for (const id of order) (columns[column.get(id) ?? 0] ??= []).push(id);
  const row = new Map<string, number>();
  const nodes: GraphNode[] = [];
  columns.forEach((ids, c) => {
    const weight = (id: string) => {
      const rows = before(id).map((one) => row.get(one)).filter((n) => n !== undefined);
      return rows.length === 0 ? Number.POSITIVE_INFINITY : rows.reduce((sum, n) => sum + n, 0) / rows.length;
    };
    const weights = new Map(ids.map((id) => [id, weight(id)]));
    const sorted = c === 0 ? ids : [...ids].sort((a, b) => compare(weights.get(a) ?? 0, weights.get(b) ?? 0));
    sorted.forEach((id, r) => {
      row.set(id, r);
      nodes.push({ id, column: c, x: NODE.left + c * (NODE.width + NODE.gapX), y: NODE.top + r * (NODE.height + NODE.gapY) });
    });
  });
  return nodes;
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The longest chain of tasks that are not done; with at least two of them. */
function longest(order: string[], before: (id: string) => string[], known: Map<string, GraphTask>): string[] {
  const length = new Map<string, number>();
  const via = new Map<string, string>();
  let last = "";
  for (const id of order) {
    if (known.get(id)?.done) continue;
    let best = 0;
    for (const one of before(id)) {
      const n = length.get(one) ?? 0;
      if (n > best) {
        best = n;
        via.set(id, one);
      }
    }
    length.set(id, best + 1);
    if (best + 1 > (length.get(last) ?? 0)) last = id;
  }
  const chain: string[] = [];
  const seen = new Set<string>();
  for (let id: string | undefined = last; id && !seen.has(id); id = via.get(id)) {
    seen.add(id);
    chain.unshift(id);
  }
  return chain.length > 1 ? chain : [];
}

function tipOf(to: GraphNode): { x: number; y: number } {
  return { x: to.x - 1, y: to.y + NODE.height / 2 };
}

function curve(from: GraphNode, to: GraphNode): string {
  const x1 = from.x + NODE.width;
  const y1 = from.y + NODE.height / 2;
  const x2 = to.x - 5;
  const y2 = to.y + NODE.height / 2;
  const bend = NODE.gapX / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
