import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dayBegin, dayOf } from "./days";

const before = process.env.TZ;

describe("days of a browser in Berlin", () => {
  beforeEach(() => void (process.env.TZ = "Europe/Berlin"));
  afterEach(() => void (process.env.TZ = before));
  it("begin at its own midnight", () => {
    expect(dayOf(Date.parse("2026-11-21T22:59:00Z"))).toBe("2026-11-21");
    expect(dayOf(Date.parse("2026-11-21T23:01:00Z"))).toBe("2026-11-22");
    expect(dayBegin(Date.parse("2026-11-21T23:01:00Z")).toISOString()).toBe("2026-11-21T23:00:00.000Z");
  });
  it("are none left out when the clocks are changed", () => {
    const early = Date.parse("2026-03-29T22:30:00Z"); // the 30th, after a day of 23 hours
    expect([2, 1, 0].map((n) => dayOf(dayBegin(early, n)))).toEqual(["2026-03-28", "2026-03-29", "2026-03-30"]);
  });
});
