import { dayOf } from "./days";
import { count, dollars } from "./words";

/** What of a sum of costs is needed to say what a day cost. */
export interface DaySum {
  /** "2026-11-21": the day, here. */
  key: string;
  costUsd: number;
  estimatedUsd: number;
  unpriced: number;
  underWay: number;
}

/**
 * What today cost: the sums by day that the API gives for this browser's zone. Runs
 * count for the day on which they were started, those under way with what they cost
 * so far. Every page says it with this.
 */
export function costToday(rows: DaySum[], now: number): DaySum {
  const sum: DaySum = { key: dayOf(now), costUsd: 0, estimatedUsd: 0, unpriced: 0, underWay: 0 };
  for (const row of rows) {
    if (row.key !== sum.key) continue;
    sum.costUsd += row.costUsd;
    sum.estimatedUsd += row.estimatedUsd;
    sum.unpriced += row.unpriced;
    sum.underWay += row.underWay;
  }
  return sum;
}

/** "about $3.20 today"; without "about" when nothing of it is an estimate. */
export function todayText(sum: DaySum): string {
  return `${sum.estimatedUsd > 0 ? "about " : ""}${dollars(sum.costUsd)} today`;
}

/** What makes the figure unsure; "" for nothing. */
export function todayDetail(sum: DaySum): string {
  const parts = [
    sum.estimatedUsd > 0 && `${dollars(sum.estimatedUsd)} of it estimated`,
    sum.unpriced > 0 && `without ${count(sum.unpriced, "run")} of unknown price`,
    sum.underWay > 0 && `${count(sum.underWay, "run")} under way`,
  ];
  return parts.filter(Boolean).join(", ");
}
