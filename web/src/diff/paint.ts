import { segments, type Segment } from "./segments";
import { closed, languageOf, tokenize, type Token } from "./syntax";
import { wordDiff, type Range } from "./wordDiff";

/** A line that stayed, came or went; a gap stands for lines that are not shown. */
export interface Change {
  kind: "same" | "add" | "del" | "gap";
  text: string;
}

/** A line as it is painted. */
export interface Painted<L extends Change = Change> {
  line: L;
  segments: Segment[];
}

/**
 * Gives each line its inks and its changed words. Each side is read by itself,
 * so that what one leaves open does not colour the other.
 */
export function paint<L extends Change>(path: string, lines: readonly L[]): Painted<L>[] {
  const language = languageOf(path);
  let before = closed;
  let after = closed;
  const tokens = lines.map((line): Token[] => {
    if (line.kind === "gap") before = after = closed;
    const read = tokenize(language, line.text, line.kind === "del" ? before : after);
    if (line.kind !== "add") before = read.open;
    if (line.kind !== "del") after = read.open;
    return read.tokens;
  });
  const marks = changedWords(lines);
  return lines.map((line, i) => ({ line, segments: segments(tokens[i] ?? [], marks[i] ?? []) }));
}

/** The changed words of lines that were replaced one for one: the first removed by the first added, and so on. */
function changedWords(lines: readonly Change[]): Range[][] {
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

function run(lines: readonly Change[], from: number, kind: Change["kind"]): number {
  let n = 0;
  while (lines[from + n]?.kind === kind) n++;
  return n;
}
