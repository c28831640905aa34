import { expect, test } from "vitest";
import { paint, type Change } from "./paint";

const line = (kind: Change["kind"], text: string): Change => ({ kind, text });

test("a replaced line has its changed words marked, and each side its inks", () => {
  const [before, after] = paint("a.go", [line("del", "return s.Pending(ctx)"), line("add", "return s.Due(ctx)")]);
  const marked = (one: typeof before) => one?.segments.filter((part) => part.marked).map((part) => part.text);
  expect([marked(before), marked(after)]).toEqual([["Pending"], ["Due"]]);
  expect(after?.segments[0]).toEqual({ text: "return", ink: "kw", marked: false });
});

test("what one side or a hidden part leaves open does not colour what comes after it", () => {
  const inks = paint("a.go", [line("del", "/* open"), line("same", "return"), line("add", "/* open"), line("gap", ""), line("same", "return")]).map((one) => one.segments[0]?.ink);
  expect(inks).toEqual(["com", "kw", "com", undefined, "kw"]);
});
