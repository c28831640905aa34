import { expect, test } from "vitest";
import type { Schema } from "../../api/client";
import { landingText, taskGate } from "./gate";

const task = { id: "t", status: "merging" } as Schema<"Task">;
const merge = { taskId: "t", status: "queued", conflicts: 0, reds: 0, verify: false } as Schema<"Merge">;

test.each<[string, Partial<Schema<"Task">>, Partial<Schema<"Merge">> | null, string, string[]]>([
  ["no merge yet", { status: "running" }, null, "Not finished", []],
  ["waits for a look", {}, { verify: true }, "Accepting puts it into the queue", ["reject", "accept"]],
  ["looked at", {}, { verify: true, verifiedBy: "person" }, "In the queue for cw/x", []],
  ["checking", {}, { status: "checking" }, "When they are green, cw/x moves", []],
  ["red, goes back by itself", {}, { status: "red" }, "cw/x did not move", []],
  ["red, given up", { status: "blocked" }, { status: "red" }, "cw/x did not move", ["retry"]],
  ["conflicted, given up", { status: "blocked" }, { status: "conflicted", conflicts: 2 }, "2 times", ["retry"]],
  ["merged", { status: "done" }, { status: "merged" }, "Merged onto cw/x", []],
])("%s", (_, ofTask, ofMerge, text, acts) => {
  const gate = taskGate({ ...task, ...ofTask }, ofMerge === null ? undefined : { ...merge, ...ofMerge }, "cw/x");
  expect(gate.text).toContain(text);
  expect(gate.acts).toEqual(acts);
});

test("landing says what changes and what does not", () => {
  const one = { how: "fast-forward", into: "main", project: "shop", branch: "cw/x", commits: 1, stat: { filesChanged: 8 } } as Schema<"Landing">;
  expect(landingText(one)).toBe("Landing puts 1 commit, 8 files of cw/x onto main of shop, as a fast-forward. Your checkout stays as it is. Nothing is pushed.");
  expect(landingText({ ...one, how: "up-to-date" })).toContain("has everything already");
  expect(landingText({ ...one, checkout: "/home/x/shop" })).toContain("The files in /home/x/shop change with it");
});
