import { expect, test } from "vitest";
import { LINGER, nothingYet, steady, type Steady } from "./steady";

type Row = { id: string };
const rows = (ids: string): Row[] => [...ids].map((id) => ({ id }));
const ids = (state: Steady<Row>) => state.rows.map((row) => row.id).join("");
const look = (anchors: string, more: { pointed?: boolean; now?: number } = {}) => ({ anchors: [...anchors], pointed: false, now: 0, ...more });
const first = steady<Row>(nothingYet, rows("bdf"), look(""));

test("all rows are shown at first", () => expect(ids(first)).toBe("bdf"));

test.each([
  ["below what is looked at it enters", "b", "bdefg", "bdefg", ""],
  ["above the first row in view it waits", "b", "abdf", "bdf", "a"],
  ["above the focused row it waits, below it enters", "bd", "bcdef", "bdef", "c"],
  ["without anything looked at it enters", "", "abdf", "abdf", ""],
])("a new row: %s", (_, anchors, wanted, shown, held) => {
  const next = steady(first, rows(wanted), look(anchors));
  expect(ids(next)).toBe(shown);
  expect(next.held.map((row) => row.id).join("")).toBe(held);
});

test("what waits goes on waiting until it is let in", () => {
  const next = steady(first, rows("abdf"), look("b"));
  expect(ids(steady(next, rows("abdf"), look("b")))).toBe("bdf");
  expect(ids(steady(next, rows("abdf"), look("")))).toBe("abdf");
});

test("a row that leaves stays in its place for a while, and as long as the pointer is there", () => {
  const left = steady(first, rows("bf"), look("b", { now: 1000 }));
  expect(ids(left)).toBe("bdf");
  expect([...left.leaving]).toEqual([["d", 1000]]);
  expect(ids(steady(left, rows("bf"), look("b", { now: 1000 + LINGER - 1 })))).toBe("bdf");
  expect(ids(steady(left, rows("bf"), look("b", { now: 1000 + LINGER })))).toBe("bf");
  expect(ids(steady(left, rows("bf"), look("b", { now: 99_000, pointed: true })))).toBe("bdf");
});

test("a row that comes back is no longer leaving, and shows its new state", () => {
  const left = steady(first, rows("bf"), look("b", { now: 1000 }));
  const back = steady(left, [{ id: "b" }, { id: "d", fresh: true } as Row, { id: "f" }], look("b", { now: 1500 }));
  expect(back.leaving.size).toBe(0);
  expect(back.rows[1]).toEqual({ id: "d", fresh: true });
});
