import { expect, test } from "vitest";
import { segments } from "./segments";
import { wordDiff } from "./wordDiff";

const marked = (text: string, ranges: { from: number; to: number }[]) => ranges.map((one) => text.slice(one.from, one.to));

test.each([
  ["req.Header.Set(key, id)", "req.Header.Set(key, id.String())", [], [".String(", ")"]],
  ["same", "same", [], []],
  ["return err", "return nil", ["err"], ["nil"]],
  ["completely other words", "nothing { in } common", [], []],
])("%s → %s", (before, after, gone, come) => {
  const diff = wordDiff(before, after);
  expect(marked(before, diff.before)).toEqual(gone);
  expect(marked(after, diff.after)).toEqual(come);
});

test("marks and inks lie over each other without losing a character", () => {
  const tokens = [{ text: "return ", ink: "kw" as const }, { text: "err.Wrap", ink: null }, { text: "(x)", ink: "str" as const }];
  const got = segments(tokens, [{ from: 3, to: 9 }, { from: 15, to: 18 }]);
  expect(got.map((one) => one.text).join("")).toBe("return err.Wrap(x)");
  expect(got.filter((one) => one.marked).map((one) => one.text)).toEqual(["urn ", "er", "(x)"]);
});
