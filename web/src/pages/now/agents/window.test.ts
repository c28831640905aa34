import { expect, test } from "vitest";
import { inView, offsetsOf, rowAt, scrollFor } from "./window";

const offsets = offsetsOf([30, 30, 70, 30]); // 0 30 60 130 160

test("where rows begin", () => {
  expect(offsets).toEqual([0, 30, 60, 130, 160]);
  expect(offsetsOf([])).toEqual([0]);
});

test.each([[-10, 0], [0, 0], [29, 0], [30, 1], [129, 2], [130, 3], [999, 3]])("the row at %d is %d", (place, row) => expect(rowAt(offsets, place)).toBe(row));

test("500 rows: only those in view, some beside them and the focused one are painted", () => {
  const many = offsetsOf(Array<number>(500).fill(30));
  const rows = inView(many, { top: 3000, bottom: 3600 }, 2);
  expect(rows[0]).toBe(2);
  expect(rows[1]).toBe(92);
  expect(rows.at(-1)).toBe(128);
  expect(inView(many, { top: -900, bottom: -300 }, -1)).toHaveLength(9);
  expect(inView([0], { top: 0, bottom: 100 }, 0)).toEqual([]);
});

test.each([[0, { top: 40, bottom: 100 }, -40], [1, { top: 0, bottom: 100 }, 0], [3, { top: 0, bottom: 100 }, 60]])("row %d of %o scrolls by %d", (row, view, by) =>
  expect(scrollFor(offsets, view, row)).toBe(by),
);
