import { fieldsOf, pathOf, verbOf } from "./tools";

/** One line of a small diff: "+" came, "-" went, " " stayed, "…" stands for lines that are not shown. */
export interface EditLine {
  sign: "+" | "-" | " " | "…";
  text: string;
}

/** What a call changes in one file, as far as its input tells it. */
export interface Edit {
  path: string;
  lines: EditLine[];
  added: number;
  removed: number;
}

/** Lines around a change. */
const CONTEXT = 3;
/** Above this many pairs of lines, everything old went and everything new came. */
const PAIRS = 250_000;

/**
 * What a call changes. Providers name the same things in their own ways: old
 * and new text (Edit, replace, str_replace), lists of them (MultiEdit), a whole
 * file (Write, create), or a patch (apply_patch).
 */
export function editsOf(tool: string, input: unknown): Edit[] {
  const fields = fieldsOf(input);
  const path = pathOf(input);
  const patch = textOf(fields, "patchText", "patch", "diff", "input");
  if (patch !== undefined && /^(\*\*\* |@@ |diff --git |--- )/m.test(patch)) return patchEdits(patch, path);
  if (path === "") return [];
  const many = Array.isArray(fields.edits) ? fields.edits.map((one) => replacement(fieldsOf(one))) : [replacement(fields)];
  const known = many.filter((lines) => lines !== null);
  if (known.length > 0) return [finished(path, known.flatMap((lines, i) => (i === 0 ? lines : [{ sign: "…", text: "" } as const, ...lines])))];
  const verb = verbOf(tool).word;
  if (verb !== "Write" && verb !== "Edit") return [];
  const whole = textOf(fields, "content", "file_text", "new_source", "insert_text", "contents");
  return whole === undefined ? [] : [finished(path, linesOf(whole).map((text) => ({ sign: "+", text })))];
}

function textOf(fields: Record<string, unknown>, ...names: string[]): string | undefined {
  return names.map((name) => fields[name]).find((value): value is string => typeof value === "string");
}

function replacement(fields: Record<string, unknown>): EditLine[] | null {
  const before = textOf(fields, "old_string", "oldString", "old_str", "oldText", "old_text", "search");
  const after = textOf(fields, "new_string", "newString", "new_str", "newText", "new_text", "replace");
  if (before === undefined || after === undefined) return null;
  return lineDiff(linesOf(before), linesOf(after));
}

function finished(path: string, lines: EditLine[]): Edit {
  return { path, lines, added: lines.filter((one) => one.sign === "+").length, removed: lines.filter((one) => one.sign === "-").length };
}

/** The lines of a text; the end of the last one begins no other. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The difference of two texts in lines, with a few lines around each change. */
export function lineDiff(before: string[], after: string[]): EditLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const same = (lines: string[]): EditLine[] => lines.map((text) => ({ sign: " ", text }));
  return folded([
    ...same(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ]);
}

/** The longest common lines stay. */
function middle(before: string[], after: string[]): EditLine[] {
  const n = before.length;
  const m = after.length;
  const out: EditLine[] = [];
  if (n * m > PAIRS) {
    for (const text of before) out.push({ sign: "-", text });
    for (const text of after) out.push({ sign: "+", text });
    return out;
  }
  const wide = m + 1;
  const longest = new Uint32Array((n + 1) * wide);
  const at = (i: number, j: number) => longest[i * wide + j] ?? 0;
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      longest[i * wide + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  let i = 0;
  let j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && before[i] === after[j]) {
      out.push({ sign: " ", text: before[i] as string });
      i++;
      j++;
    } else if (i < n && (j === m || at(i + 1, j) >= at(i, j + 1))) out.push({ sign: "-", text: before[i++] as string });
    else out.push({ sign: "+", text: after[j++] as string });
  }
  return out;
}

/** Leaves out what is far from any change. */
function folded(lines: EditLine[]): EditLine[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, at) => {
    if (line.sign !== " ") near.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const out: EditLine[] = [];
  lines.forEach((line, at) => {
    if (near[at]) out.push(line);
    else if (out.length > 0 && out.at(-1)?.sign !== "…" && near.indexOf(true, at) >= 0) out.push({ sign: "…", text: "" });
  });
  return out;
}

/** A patch in the form of apply_patch ("*** Update File: …") or of git. */
function patchEdits(patch: string, path: string): Edit[] {
  const edits: { path: string; lines: EditLine[] }[] = [];
  const current = () => {
    if (edits.length === 0) edits.push({ path, lines: [] });
    return edits[edits.length - 1] as { path: string; lines: EditLine[] };
  };
  for (const line of linesOf(patch)) {
    const file = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/.exec(line) ?? /^diff --git a\/.+ b\/(.+)$/.exec(line);
    if (file) edits.push({ path: file[1] as string, lines: [] });
    else if (line.startsWith("@@")) {
      if (current().lines.length > 0) current().lines.push({ sign: "…", text: "" });
    } else if (/^(\*\*\* |--- |\+\+\+ |index |new file |deleted file |old mode|new mode|similarity |rename )/.test(line)) {
      const named = /^\+\+\+ b?\/?(.+)$/.exec(line);
      if (named && edits.length === 0 && path === "") edits.push({ path: named[1] as string, lines: [] });
    } else if (line.startsWith("+") || line.startsWith("-")) current().lines.push({ sign: line[0] as "+" | "-", text: line.slice(1) });
    else if (edits.length > 0) current().lines.push({ sign: " ", text: line.replace(/^ /, "") });
  }
  return edits.filter((one) => one.path !== "").map((one) => finished(one.path, one.lines));
}
