import type { Change } from "../../diff/paint";
import { fieldsOf, pathOf, verbOf } from "./tools";

/** One line of a small diff, with its numbers as far as the CLI told them. */
export interface EditLine extends Change {
  old?: number;
  new?: number;
}

const gap: EditLine = { kind: "gap", text: "" };

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
  if (known.length > 0) return [finished(path, known.flatMap((lines, i) => (i === 0 ? lines : [gap, ...lines])))];
  const verb = verbOf(tool).word;
  if (verb !== "Write" && verb !== "Edit") return [];
  const whole = textOf(fields, "content", "file_text", "contents");
  if (whole !== undefined) return [finished(path, linesOf(whole).map((text, i) => ({ kind: "add", text, new: i + 1 })))];
  const part = textOf(fields, "new_source", "insert_text");
  return part === undefined ? [] : [finished(path, linesOf(part).map((text) => ({ kind: "add", text })))];
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
  return { path, lines, added: lines.filter((one) => one.kind === "add").length, removed: lines.filter((one) => one.kind === "del").length };
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
  const same = (lines: string[]): EditLine[] => lines.map((text) => ({ kind: "same", text }));
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
    for (const text of before) out.push({ kind: "del", text });
    for (const text of after) out.push({ kind: "add", text });
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
      out.push({ kind: "same", text: before[i] as string });
      i++;
      j++;
    } else if (i < n && (j === m || at(i + 1, j) >= at(i, j + 1))) out.push({ kind: "del", text: before[i++] as string });
    else out.push({ kind: "add", text: after[j++] as string });
  }
  return out;
}

/** Leaves out what is far from any change. */
function folded(lines: EditLine[]): EditLine[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, at) => {
    if (line.kind !== "same") near.fill(true, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const out: EditLine[] = [];
  lines.forEach((line, at) => {
    if (near[at]) out.push(line);
    else if (out.length > 0 && out.at(-1)?.kind !== "gap" && near.indexOf(true, at) >= 0) out.push(gap);
  });
  return out;
}

/** A patch in the form of apply_patch ("*** Update File: …") or of git. */
function patchEdits(patch: string, path: string): Edit[] {
  const edits: { path: string; lines: EditLine[] }[] = [];
  let at: { old: number; new: number } | null = null;
  const begin = (named: string) => {
    edits.push({ path: named, lines: [] });
    at = null;
  };
  const add = (kind: EditLine["kind"], text: string) => {
    if (edits.length === 0) begin(path);
    const line: EditLine = { kind, text };
    if (at && kind !== "add") line.old = at.old++;
    if (at && kind !== "del") line.new = at.new++;
    edits.at(-1)?.lines.push(line);
  };
  for (const line of linesOf(patch)) {
    const file = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/.exec(line) ?? /^diff --git a\/.+ b\/(.+)$/.exec(line);
    if (file) begin(file[1] as string);
    else if (line.startsWith("@@")) {
      if (edits.length === 0) begin(path);
      if ((edits.at(-1)?.lines.length ?? 0) > 0) edits.at(-1)?.lines.push(gap);
      const told = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
      at = told && { old: Number(told[1]), new: Number(told[2]) };
    } else if (/^(\*\*\* |--- |\+\+\+ |index |new file |deleted file |old mode|new mode|similarity |rename )/.test(line)) {
      const named = /^\+\+\+ b?\/?(.+)$/.exec(line);
      if (named && edits.length === 0 && path === "") begin(named[1] as string);
    } else if (line.startsWith("+")) add("add", line.slice(1));
    else if (line.startsWith("-")) add("del", line.slice(1));
    else if (edits.length > 0) add("same", line.replace(/^ /, ""));
  }
  return edits.filter((one) => one.path !== "").map((one) => finished(one.path, one.lines));
}

/**
 * The numbers of an edit's lines, from what the tool answered: some CLIs show
 * the place as it is now, with its line numbers ("   42→  return nil"). An edit
 * stays as it is where the answer does not show all of its new lines in a row.
 */
export function numbered(edit: Edit, answer: string): Edit {
  const shown = [...answer.matchAll(/^ *(\d+)[→\t](.*)$/gm)].map(([, number, text = ""]) => ({ number: Number(number), text }));
  const now = edit.lines.filter((line) => line.kind !== "del");
  if (shown.length === 0 || now.length === 0 || edit.lines.some((line) => line.kind === "gap" || line.new !== undefined)) return edit;
  const at = shown.findIndex((_, i) => now.every((line, k) => shown[i + k]?.text === line.text));
  const first = shown[at]?.number;
  if (first === undefined) return edit;
  const next = { old: first, new: first };
  const lines = edit.lines.map((line): EditLine => ({ ...line, ...(line.kind === "add" ? {} : { old: next.old++ }), ...(line.kind === "del" ? {} : { new: next.new++ }) }));
  return { ...edit, lines };
}
