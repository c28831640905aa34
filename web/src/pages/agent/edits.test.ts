import { expect, test } from "vitest";
import { editsOf, lineDiff } from "./edits";

const signs = (tool: string, input: unknown) => editsOf(tool, input).map((edit) => [edit.path, edit.lines.map((line) => line.sign).join(""), edit.added, edit.removed]);

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
  expect(lineDiff(before, after).map((line) => line.sign).join("")).toBe("   -+   …   -+   ");
});

test("a change that is too large to compare is told whole", () => {
  const lines = (of: string) => Array.from({ length: 1000 }, (_, i) => `${of}${i}`);
  const diff = lineDiff(lines("a"), lines("b"));
  expect([diff.filter((line) => line.sign === "-").length, diff.filter((line) => line.sign === "+").length]).toEqual([1000, 1000]);
});
