import { expect, test } from "vitest";
import { editsOf, lineDiff, numbered, type Edit, type EditLine } from "./edits";

const marks = { same: " ", add: "+", del: "-", gap: "…" };
const shape = (lines: readonly EditLine[]) => lines.map((line) => marks[line.kind]).join("");
const signs = (tool: string, input: unknown) => editsOf(tool, input).map((edit) => [edit.path, shape(edit.lines), edit.added, edit.removed]);

test.each([
  ["Edit", { file_path: "a.go", old_string: "a\nb\nc\n", new_string: "a\nB\nc\n" }, [["a.go", " -+ ", 1, 1]]],
  ["edit", { filePath: "a.go", oldString: "a", newString: "b" }, [["a.go", "-+", 1, 1]]],
  ["replace", { file_path: "a.go", old_string: "a", new_string: "" }, [["a.go", "-", 0, 1]]],
  ["str_replace_based_edit_tool", { command: "str_replace", path: "a.go", old_str: "a", new_str: "b" }, [["a.go", "-+", 1, 1]]],
  ["str_replace_based_edit_tool", { command: "create", path: "a.go", file_text: "a\nb\n" }, [["a.go", "++", 2, 0]]],
  ["edit", { path: "a.go", edits: [{ oldText: "a", newText: "b" }, { oldText: "c", newText: "d" }] }, [["a.go", "-+…-+", 2, 2]]],
  ["MultiEdit", { file_path: "a.go", edits: [{ old_string: "a", new_string: "b" }] }, [["a.go", "-+", 1, 1]]],
  ["Write", { file_path: "a.go", content: "a\n" }, [["a.go", "+", 1, 0]]],
  ["apply_patch", { input: "*** Begin Patch\n*** Update File: a.go\n@@ f\n a\n-b\n+c\n*** Add File: d.go\n+x\n*** End Patch" }, [["a.go", " -+", 1, 1], ["d.go", "+", 1, 0]]],
  ["apply_patch", { patchText: "diff --git a/a.go b/a.go\nindex 1..2\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n a\n-b\n+c" }, [["a.go", " -+", 1, 1]]],
  ["apply_patch", { changes: [{ path: "n.txt", kind: "add" }] }, []],
  ["Read", { file_path: "a.go", content: "no change" }, []],
  ["Bash", { command: "ls" }, []],
  ["Edit", null, []],
  ["Edit", { file_path: 1, old_string: [], new_string: {} }, []],
])("%s %j", (tool, input, want) => expect(signs(tool, input)).toEqual(want));

test("lines far from a change are left out", () => {
  const before = Array.from({ length: 30 }, (_, i) => `${i}`);
  const after = before.with(5, "five").with(25, "twenty-five");
  expect(shape(lineDiff(before, after))).toBe("   -+   …   -+   ");
});

test("a change that is too large to compare is told whole", () => {
  const lines = (of: string) => Array.from({ length: 1000 }, (_, i) => `${of}${i}`);
  const diff = lineDiff(lines("a"), lines("b"));
  expect([diff.filter((line) => line.kind === "del").length, diff.filter((line) => line.kind === "add").length]).toEqual([1000, 1000]);
});

const numbers = (edit: Edit | undefined) => edit?.lines.map((line) => `${line.old ?? ""}${marks[line.kind]}${line.new ?? ""}`);

test("lines have the numbers that the CLI told", () => {
  expect(numbers(editsOf("Write", { file_path: "a.go", content: "a\nb\n" })[0])).toEqual(["+1", "+2"]);
  const patch = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -4,2 +4,3 @@\n a\n-b\n+c\n+d\n@@ -20 +21 @@\n-x\n+y";
  expect(numbers(editsOf("apply_patch", { patchText: patch })[0])).toEqual(["4 4", "5-", "+5", "+6", "…", "20-", "+21"]);
  expect(numbers(editsOf("Edit", { file_path: "a.go", old_string: "a\nb", new_string: "a\nc" })[0])).toEqual([" ", "-", "+"]);
  expect(numbers(editsOf("str_replace_based_edit_tool", { command: "insert", path: "a.go", insert_line: 7, insert_text: "x" })[0])).toEqual(["+"]);
});

test.each([
  ["Updated. Here is the place:\n    40→func f() {\n    41→\ta\n    42→\tc\n    43→}", ["41 41", "42-", "+42"]],
  ["   41\t\ta\n   42\t\tc", ["41 41", "42-", "+42"]],
  ["Updated.", [" ", "-", "+"]],
  ["    41→\ta\n    42→\tother", [" ", "-", "+"]],
])("an answer that shows the place gives the lines their numbers: %j", (answer, want) => {
  const [edit] = editsOf("Edit", { file_path: "a.go", old_string: "\ta\n\tb", new_string: "\ta\n\tc" });
  expect(numbers(numbered(edit as Edit, answer))).toEqual(want);
});
