import { expect, it } from "vitest";
import { outsideText } from "./outside";

it.each([
  [1, ["go.mod"], "changed 1 file outside its paths: go.mod"],
  [3, ["a", "b", "c"], "changed 3 files outside its paths: a, b, c"],
  [25, ["a", "b\nc"], "changed 25 files outside its paths: a, b c and 23 more"],
  [2, [], "changed 2 files outside its paths"],
])("%d files outside are told", (total, files, want) => expect(outsideText(total, files)).toBe(want));
