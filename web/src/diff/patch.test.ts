import { expect, test } from "vitest";
import { parsePatch } from "./patch";
import { rowsOf } from "./rows";

const patch = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -10,4 +10,5 @@ func main() {
 same
-old
---- a/looks like a head
+new
+++ b/looks like one too
+one more
 end
\\ No newline at end of file
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git "a/\\303\\266\\t.txt" "b/\\303\\266\\t.txt"
new file mode 100644
--- /dev/null
+++ "b/\\303\\266\\t.txt"
@@ -0,0 +1 @@
+x
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/pic.png b/pic.png
index 1..2 100644
Binary files a/pic.png and b/pic.png differ
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
`;

test("a patch of git, with what looks like a head inside of a hunk", () => {
  const files = parsePatch(patch);
  expect(files.map(({ path, from, kind, binary, mode }) => ({ path, from, kind, binary, mode }))).toEqual([
    { path: "a.go", from: null, kind: "changed", binary: false, mode: null },
    { path: "new name.txt", from: "old name.txt", kind: "renamed", binary: false, mode: null },
    { path: "ö\t.txt", from: null, kind: "added", binary: false, mode: null },
    { path: "run.sh", from: null, kind: "changed", binary: false, mode: "100644 → 100755" },
    { path: "pic.png", from: null, kind: "changed", binary: true, mode: null },
    { path: "gone", from: null, kind: "deleted", binary: false, mode: null },
  ]);
  expect(files[0]?.hunks[0]?.lines).toEqual([
    { kind: "same", old: 10, new: 10, text: "same" },
    { kind: "del", old: 11, new: null, text: "old" },
    { kind: "del", old: 12, new: null, text: "--- a/looks like a head" },
    { kind: "add", old: null, new: 11, text: "new" },
    { kind: "add", old: null, new: 12, text: "++ b/looks like one too" },
    { kind: "add", old: null, new: 13, text: "one more" },
    { kind: "same", old: 13, new: 14, text: "end", open: true },
  ]);
});

test("side by side, removed and added lines of one place share rows", () => {
  const [file] = parsePatch(patch);
  const rows = file ? rowsOf(file, true) : [];
  expect(rows.map((row) => (row.kind === "pair" ? [row.left?.line.text ?? null, row.right?.line.text ?? null] : row.kind))).toEqual([
    "hunk",
    ["same", "same"],
    ["old", "new"],
    ["--- a/looks like a head", "++ b/looks like one too"],
    [null, "one more"],
    ["end", "end"],
  ]);
});

/** Small and repeatable: the same numbers at each run. */
function dice(seed: number): (n: number) => number {
  return (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
}

test("random patches come out as they went in", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const roll = dice(seed);
    const kinds = Array.from({ length: 1 + roll(40) }, () => " +-".charAt(roll(3)));
    const texts = kinds.map((_, i) => ["", "--- a/x", "@@ -1 +1 @@", "diff --git a/x b/x", "\\ no", `line ${i}`][roll(6)] ?? "");
    const old = kinds.filter((kind) => kind !== "+").length;
    const now = kinds.filter((kind) => kind !== "-").length;
    const body = kinds.map((kind, i) => kind + (texts[i] ?? "")).join("\n");
    const [file, next] = parsePatch(`diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,${old} +1,${now} @@\n${body}\ndiff --git a/g b/g\nold mode 1\nnew mode 2\n`);
    expect(file?.hunks[0]?.lines.map((line) => line.text)).toEqual(texts);
    expect(next?.path).toBe("g");
    for (const split of [true, false]) {
      const rows = file ? rowsOf(file, split) : [];
      const shown = rows.flatMap((row) => (row.kind === "line" ? [row.painted] : row.kind === "pair" ? [row.left, row.right === row.left ? null : row.right] : []));
      expect(shown.filter((one) => one !== null).map((one) => one.segments.map((part) => part.text).join("")).sort()).toEqual([...texts].sort());
    }
  }
});
