import { describe, expect, it } from "vitest";
import { costToday, todayDetail, todayText, type DaySum } from "./costToday";
import { dayOf } from "./days";

const now = new Date(2026, 10, 21, 9, 30).getTime();
const row = (key: string, costUsd: number, more: Partial<DaySum> = {}): DaySum => ({ key, costUsd, estimatedUsd: 0, unpriced: 0, underWay: 0, ...more });

describe("the cost of today", () => {
  it("is the sum of this day here, runs under way among them", () => {
    const rows = [row("2026-11-20", 9), row(dayOf(now), 1.25), row(dayOf(now), 0.75, { estimatedUsd: 0.5, underWay: 1, unpriced: 2 })];
    const sum = costToday(rows, now);
    expect(sum).toEqual({ key: "2026-11-21", costUsd: 2, estimatedUsd: 0.5, unpriced: 2, underWay: 1 });
    expect(todayText(sum)).toBe("about $2.00 today");
    expect(todayDetail(sum)).toBe("$0.50 of it estimated, without 2 runs of unknown price, 1 run under way");
  });

  it("is told without reserve when nothing is estimated", () => {
    const sum = costToday([row(dayOf(now), 3)], now);
    expect([todayText(sum), todayDetail(sum)]).toEqual(["$3.00 today", ""]);
  });

  it("is nothing on a day without runs", () => expect(costToday([row("2026-11-20", 9)], now).costUsd).toBe(0));
});
