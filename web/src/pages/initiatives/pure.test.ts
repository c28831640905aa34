import { describe, expect, test } from "vitest";
import { layout } from "./graph";
import { rowsOf, split, titleOf } from "./proposalRows";
import { withoutCommand } from "./tree";

const shown = (pieces: { text: string; marked: boolean }[]) => pieces.map((piece) => (piece.marked ? `[${piece.text}]` : piece.text)).join("");

describe("graph", () => {
  const task = (id: string, dependsOn: string[] = [], done = false) => ({ id, dependsOn, done });

  test("columns by depth, the longest chain of what is left heavy", () => {
    const got = layout([task("a", [], true), task("b", ["a"]), task("c", ["b"]), task("d", ["a", "gone"]), task("e", ["c"])]);
    expect(Object.fromEntries(got.nodes.map((node) => [node.id, node.column]))).toEqual({ a: 0, b: 1, c: 2, d: 1, e: 3 });
    expect(got.chain).toEqual(["b", "c", "e"]);
    expect(got.edges.filter((edge) => edge.heavy).map((edge) => `${edge.from}${edge.to}`)).toEqual(["bc", "ce"]);
  });

  test("a circle ends, and everything in it is shown", () => {
    const got = layout([task("a", ["c"]), task("b", ["a"]), task("c", ["b"])]);
    expect(got.nodes).toHaveLength(3);
  });

  test("a task alone is no chain", () => expect(layout([task("a")]).chain).toEqual([]));

  test("nothing lies upon something else, with 400 tasks", () => {
    const many = Array.from({ length: 400 }, (_, i) => task(`t${i}`, i < 20 ? [] : [`t${i - 20}`, `t${i - ((i % 19) + 1)}`]));
    const got = layout(many);
    expect(new Set(got.nodes.map((node) => `${node.x},${node.y}`)).size).toBe(400);
  });
});

describe("rowsOf", () => {
  const head = (depends: string[], more = "") => `---\nid: t1\ntitle: "Load: test"\ndepends_on:\n${depends.map((id) => `  - ${id}\n`).join("")}paths: []\n---\n\n${more}`;

  test("fields in words, names in the place of ids", () => {
    const view = { action: "update" as const, current: head(["a"]), after: head(["a", "b"]), diff: "--- current\n+++ suggested\n@@ -4,3 +4,4 @@\n depends_on:\n   - a\n+  - b\n paths: []\n" };
    const rows = rowsOf(view, new Map([["a", "Back-off"], ["b", "Dead letters"]]));
    expect(rows.map((row) => `${row.kind} ${shown(row.pieces)}`)).toEqual(["del depends on Back-off", "add depends on Back-off[, Dead letters]"]);
  });

  test("of the text only what changed", () => {
    const view = { action: "update" as const, current: head([], "one\ntwo\n"), after: head([], "one\nto\n"), diff: "--- current\n+++ suggested\n@@ -5,4 +5,4 @@\n ---\n \n one\n-two\n+to\n" };
    expect(rowsOf(view, new Map()).map((row) => `${row.kind} ${shown(row.pieces)}`)).toEqual(["del two", "add to"]);
  });

  test("something new tells what is not usual", () => {
    const after = "---\nid: t1\ntitle: New\ntype: auto\nsize: small\ndepends_on:\n  - a\n---\n\nDo it.\n";
    const view = { action: "create" as const, after, diff: `--- current\n+++ suggested\n@@ -0,0 +1,10 @@\n${after.split("\n").slice(0, -1).map((line) => `+${line}\n`).join("")}` };
    expect(rowsOf(view, new Map()).map((row) => shown(row.pieces))).toEqual(["size small", "depends on a", "Do it."]);
  });

  test("a removal shows what goes", () => {
    expect(rowsOf({ action: "delete", current: head([], "old\n"), diff: "" }, new Map()).map((row) => row.kind)).toEqual(["del"]);
  });

  test("a file without a head is text", () => expect(split("# Title\n---\n").head).toBe(0));

  test("marks of direction do not steer", () => {
    const view = { action: "update" as const, current: "a", after: "b", diff: "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\u202e\n" };
    expect(rowsOf(view, new Map()).map((row) => shown(row.pieces))).toEqual(["a", "b"]);
  });
});

test.each([
  ["create", "task", "New task: X"], ["update", "page", "Page: X"], ["delete", "task", "Cancel task: X"], ["delete", "page", "Remove page: X"],
] as const)("titleOf(%s %s)", (action, target, want) => expect(titleOf({ action, target, title: "X" })).toBe(want));

test.each([
  ["A person looks at the result: cw task diff abc; then: cw task done abc", "A person looks at the result"],
  ['The task "Mend: cw status" comes first', 'The task "Mend: cw status" comes first'],
])("why %s is told on a page with buttons", (reason, want) => expect(withoutCommand(reason)).toBe(want));
