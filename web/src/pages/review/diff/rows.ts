import { segments, type Segment } from "./segments";
import { closed, languageOf, tokenize, type Token } from "./syntax";
import type { FilePatch, Hunk, Line } from "./patch";
import { wordDiff, type Range } from "./wordDiff";

/** A line as it is painted. */
export interface Painted {
  line: Line;
  segments: Segment[];
}

/** One row of a file's diff. Unified: one line. Split: what stands left and right. */
export type Row =
  | { kind: "hunk"; hunk: Hunk; hidden: number }
  | { kind: "line"; painted: Painted }
  | { kind: "pair"; left: Painted | null; right: Painted | null };

/** The rows of a file, in one of the two ways of reading. */
export function rowsOf(file: FilePatch, split: boolean): Row[] {
  const rows: Row[] = [];
  let next = 1;
  for (const hunk of file.hunks) {
    rows.push({ kind: "hunk", hunk, hidden: Math.max(0, hunk.newStart - next) });
    next = (hunk.lines.findLast((line) => line.new !== null)?.new ?? hunk.newStart - 1) + 1;
    for (const block of blocksOf(paint(file.path, hunk))) rows.push(...(split ? pairs(block) : block.map((painted): Row => ({ kind: "line", painted }))));
  }
  return rows;
}

/** Puts removed and added lines of one place side by side. */
function pairs(block: Painted[]): Row[] {
  if (block[0]?.line.kind === "same") return block.map((one) => ({ kind: "pair", left: one, right: one }));
  const left = block.filter((one) => one.line.kind === "del");
  const right = block.filter((one) => one.line.kind === "add");
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => ({ kind: "pair", left: left[i] ?? null, right: right[i] ?? null }));
}

/** Parts the lines into stretches that stayed and stretches that changed. */
function blocksOf(lines: Painted[]): Painted[][] {
  const blocks: Painted[][] = [];
  for (const one of lines) {
    const last = blocks.at(-1);
    if (last && (last[0]?.line.kind === "same") === (one.line.kind === "same")) last.push(one);
    else blocks.push([one]);
  }
  return blocks;
}

/** Gives each line its inks and its changed words. Each side is read by itself, so that what one leaves open does not colour the other. */
function paint(path: string, hunk: Hunk): Painted[] {
  const language = languageOf(path);
  let before = closed;
  let after = closed;
  const tokens = hunk.lines.map((line): Token[] => {
    const read = tokenize(language, line.text, line.kind === "del" ? before : after);
    if (line.kind !== "add") before = read.open;
    if (line.kind !== "del") after = read.open;
    return read.tokens;
  });
  const marks = changedWords(hunk.lines);
  return hunk.lines.map((line, i) => ({ line, segments: segments(tokens[i] ?? [], marks[i] ?? []) }));
}

/** The changed words of lines that were replaced one for one: the first removed by the first added, and so on. */
function changedWords(lines: Line[]): Range[][] {
  const out: Range[][] = lines.map(() => []);
  for (let i = 0; i < lines.length; ) {
    const removed = run(lines, i, "del");
    const added = run(lines, i + removed, "add");
    for (let k = 0; k < Math.min(removed, added); k++) {
      const diff = wordDiff(lines[i + k]?.text ?? "", lines[i + removed + k]?.text ?? "");
      out[i + k] = diff.before;
      out[i + removed + k] = diff.after;
    }
    i += Math.max(1, removed + added);
  }
  return out;
}

function run(lines: Line[], from: number, kind: Line["kind"]): number {
  let n = 0;
  while (lines[from + n]?.kind === kind) n++;
  return n;
}
