import { expect, test } from "vitest";
import { Lag } from "./lag";

/** Notes events by when they came and how old they were, and says how far behind it is then. */
function after(events: [came: number, age: number][], now: number): number {
  const lag = new Lag();
  for (const [came, age] of events) lag.note(came - age, came);
  return lag.seconds(now);
}

test.each<[string, [number, number][], number, number]>([
  ["nothing came", [], 100_000, 0],
  ["events come as they happen", [[1000, 20], [2000, 40], [3000, 10]], 3000, 0],
  ["they are a little late", [[1000, 2900], [2000, 3000]], 2500, 0],
  ["one was late, a moment ago", [[1000, 9000]], 1500, 0],
  ["they stay late", [[1000, 9000], [1500, 8800], [2000, 8000]], 2100, 8],
  ["it has caught up", [[1000, 9000], [2000, 8000], [2100, 100]], 2200, 0],
  ["late ones, and nothing more", [[1000, 9000], [2000, 8000]], 4500, 0],
])("%s", (_, events, now, seconds) => expect(after(events, now)).toBe(seconds));

test("what was late before a rest does not count after it", () => {
  const lag = new Lag();
  lag.note(0, 10_000);
  expect(lag.seconds(20_000)).toBe(0);
  lag.note(11_000, 20_100);
  expect(lag.seconds(20_200)).toBe(0);
  expect(lag.seconds(21_200)).toBe(9);
});
