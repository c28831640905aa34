import type { CostRow } from "../../api/accountQueries";
import { dayBegin, dayOf } from "../../lib/days";

/** More series than this become "other". */
const NAMED = 3;

export interface Series {
  /** Id of the account; "": the others together. */
  key: string;
  name: string;
}

export interface CostDay {
  /** "2026-11-21". */
  day: string;
  total: number;
  /** What each series cost, in their order. */
  parts: number[];
}

export interface CostChartData {
  series: Series[];
  days: CostDay[];
}

/** When the first day begins that the page needs: that of the chart or that of the month, whichever is earlier. */
export function sinceOf(now: number, days: number): string {
  return dayBegin(now, Math.max(days, new Date(now).getDate()) - 1).toISOString();
}

/** The last days, stacked by the accounts that cost most; the rest is "other". */
export function chartOf(rows: CostRow[], now: number, days: number): CostChartData {
  const wanted = Array.from({ length: days }, (_, i) => dayOf(dayBegin(now, days - 1 - i)));
  const shown = rows.filter((row) => row.key >= (wanted[0] ?? "") && row.costUsd > 0);
  const sums = new Map<string, { name: string; sum: number }>();
  for (const row of shown) {
    const key = row.then ?? "";
    const one = sums.get(key) ?? { name: row.then && row.thenName ? row.thenName : "no account", sum: 0 };
    sums.set(key, { ...one, sum: one.sum + row.costUsd });
  }
  const ranked = [...sums].sort((a, b) => b[1].sum - a[1].sum || a[1].name.localeCompare(b[1].name));
  const named = ranked.length <= NAMED + 1 ? ranked : ranked.slice(0, NAMED);
  const series: Series[] = named.map(([key, one]) => ({ key, name: one.name }));
  if (named.length < ranked.length) series.push({ key: "other", name: "other" });
  const at = new Map(named.map(([key], i) => [key, i]));
  return {
    series,
    days: wanted.map((day) => {
      const parts = series.map(() => 0);
      for (const row of shown) {
        if (row.key !== day) continue;
        const i = at.get(row.then ?? "") ?? series.length - 1;
        parts[i] = (parts[i] ?? 0) + row.costUsd;
      }
      return { day, total: parts.reduce((sum, part) => sum + part, 0), parts };
    }),
  };
}

/** What an account cost today and in this month. */
export function spentOf(rows: CostRow[], now: number, account: string): { today: number; month: number } {
  const today = dayOf(now);
  const spent = { today: 0, month: 0 };
  for (const row of rows) {
    if (row.then !== account) continue;
    if (row.key === today) spent.today += row.costUsd;
    if (row.key.startsWith(today.slice(0, 7))) spent.month += row.costUsd;
  }
  return spent;
}

/** Where the lines of the axis are: at most five steps of 1, 2 or 5 times a power of ten, the last at or above the greatest. */
export function ticksOf(most: number): number[] {
  const goal = most <= 0 ? 1 : most;
  const power = 10 ** Math.floor(Math.log10(goal / 4));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => goal / one <= 4.0001) ?? goal;
  const count = Math.max(1, Math.ceil(goal / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}
