import { describe, expect, it } from "vitest";
import type { AccountView, CostRow } from "../../api/accountQueries";
import { chartOf, sinceOf, spentOf, ticksOf } from "./costDays";
import { barOf, standOf, titleOf, windowsOf } from "./usage";

const now = Date.parse("2026-11-21T12:00:00Z");
const inHours = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
const account = (more: Partial<AccountView>) => ({ enabled: true, draining: false, agents: [], usage: [], exhaustedUntil: null, ...more }) as unknown as AccountView;
const cost = (key: string, then: string, costUsd: number) => ({ key, then, thenName: then, costUsd }) as CostRow;

describe("a window of an account", () => {
  it.each([
    ["slower than time", { kind: "five_hour", usedPercent: 30, resetsAt: inHours(2) }, { used: 30, tone: "calm" }],
    ["a little ahead of time", { kind: "five_hour", usedPercent: 50, resetsAt: inHours(4) }, { used: 50, tone: "calm" }],
    ["too fast", { kind: "five_hour", usedPercent: 92, resetsAt: inHours(1) }, { used: 92, tone: "need" }],
    ["full", { kind: "seven_day", usedPercent: 130, resetsAt: inHours(52) }, { used: 100, tone: "held" }],
    ["begun anew since it was read", { kind: "five_hour", usedPercent: 92, resetsAt: inHours(-1) }, { used: 0, tone: "calm", passed: null, reset: "has begun anew" }],
    ["of unknown length", { kind: "quota", usedPercent: 80, resetsAt: inHours(1) }, { passed: null, tone: "calm" }],
    ["without an end", { kind: "five_hour", usedPercent: 80, resetsAt: null }, { passed: null, reset: "" }],
  ])("is %s", (_, window, want) => expect(barOf(window, now)).toMatchObject(want));

  it("marks how much of it has passed", () => expect(barOf({ kind: "five_hour", usedPercent: 1, resetsAt: inHours(1) }, now).passed).toBeCloseTo(80));
  it("has a name", () => expect(["five_hour", "seven_day", "seven_day_opus", "quota"].map(titleOf)).toEqual(["5 hours", "Week", "Week, opus", "Quota"]));
  it("is short or long", () => {
    const parts = windowsOf(account({ usage: [{ kind: "five_hour", usedPercent: 1, resetsAt: null }, { kind: "quota", usedPercent: 2, resetsAt: null }] }), now);
    expect([parts.short.length, parts.long.length]).toEqual([1, 1]);
  });
});

describe("how an account stands", () => {
  it.each([
    [{ invalid: "signed out", agents: ["a"] }, "Cannot be used"],
    [{ draining: true, enabled: false }, "Goes with its last agent"],
    [{ enabled: false }, "Off"],
    [{ exhaustedUntil: inHours(1), agents: ["a"] }, "At its limit"],
    [{ exhaustedUntil: inHours(-1), agents: ["a", "b"] }, "2 agents"],
    [{}, "Free"],
  ])("%o is %s", (more, word) => expect(standOf(account(more), now).word).toBe(word));
});

describe("costs of days", () => {
  const rows = [cost("2026-11-20", "a", 5), cost("2026-11-20", "b", 4), cost("2026-11-21", "c", 3), cost("2026-11-21", "d", 2), cost("2026-11-21", "e", 1), cost("2026-11-01", "a", 100)];
  it("are stacked by the greatest accounts, the rest together", () => {
    const chart = chartOf(rows, now, 3);
    expect(chart.series.map((one) => one.name)).toEqual(["a", "b", "c", "other"]);
    expect(chart.days.map((one) => [one.day, one.total, one.parts])).toEqual([
      ["2026-11-19", 0, [0, 0, 0, 0]],
      ["2026-11-20", 9, [5, 4, 0, 0]],
      ["2026-11-21", 6, [0, 0, 3, 3]],
    ]);
  });
  it("leave out what cost nothing, and name what belongs to no account", () => {
    const none = [{ key: "2026-11-21", then: "", thenName: "/", costUsd: 1 } as CostRow, cost("2026-11-21", "z", 0)];
    expect(chartOf(none, now, 3).series).toEqual([{ key: "", name: "no account" }]);
  });
  it("call nothing other while four are enough", () => expect(chartOf(rows.slice(0, 4), now, 3).series).toHaveLength(4));
  it("sum up today and the month", () => {
    expect(spentOf(rows, now, "c")).toEqual({ today: 3, month: 3 });
    expect(spentOf(rows, now, "a")).toEqual({ today: 0, month: 105 });
  });
  it("begin with the month or the chart", () => {
    expect(sinceOf(now, 14)).toBe(new Date(2026, 10, 1).toISOString());
    expect(sinceOf(Date.parse("2026-11-03T12:00:00Z"), 14)).toBe(new Date(2026, 9, 21).toISOString());
  });
  it.each([[0, 1], [0.37, 0.4], [9, 10], [62, 80], [80, 80], [101, 150]])("of %d have an axis up to %d", (most, top) => expect(ticksOf(most).at(-1)).toBe(top));
});
