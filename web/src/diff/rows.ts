import { paint, type Painted as PaintedAs } from "./paint";
import type { FilePatch, Hunk, Line } from "./patch";

/** A line of a patch as it is painted. */
export type Painted = PaintedAs<Line>;

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
    const hidden = Math.max(0, hunk.newStart - next);
    // A file that begins with what changed hides nothing before it.
    if (rows.length > 0 || hidden > 0 || hunk.section !== "") rows.push({ kind: "hunk", hunk, hidden });
    next = (hunk.lines.findLast((line) => line.new !== null)?.new ?? hunk.newStart - 1) + 1;
    for (const block of blocksOf(paint(file.path, hunk.lines))) rows.push(...(split ? pairs(block) : block.map((painted): Row => ({ kind: "line", painted }))));
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
