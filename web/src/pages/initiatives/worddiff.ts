/** A piece of a line: the same in both texts, or only in this one. */
export interface Piece {
  text: string;
  changed: boolean;
}

/** More words than this are not compared one by one. */
const MOST = 400;

/** What differs between two lines, by words. Lines that share little are wholly different. */
export function wordDiff(before: string, after: string): { before: Piece[]; after: Piece[] } {
  const a = wordsOf(before);
  const b = wordsOf(after);
  if (a.length > MOST || b.length > MOST) return apart(before, after);
  const same = common(a, b);
  const shared = same.reduce((sum, [i]) => sum + (a[i] ?? "").trim().length, 0);
  if (shared === 0 || shared * 3 < Math.min(before.trim().length, after.trim().length)) return apart(before, after);
  return { before: pieces(a, new Set(same.map(([i]) => i))), after: pieces(b, new Set(same.map(([, j]) => j))) };
}

function apart(before: string, after: string) {
  return { before: [{ text: before, changed: false }], after: [{ text: after, changed: false }] };
}

/** Words, signs and the space between them. */
function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** Pairs of places at which the longest common sequence stands. */
function common(a: string[], b: string[]): [number, number][] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) out.push([i++, j++]);
    else if (length(i + 1, j) >= length(i, j + 1)) i++;
    else j++;
  }
  return out;
}

function pieces(words: string[], same: Set<number>): Piece[] {
  const out: Piece[] = [];
  words.forEach((text, i) => {
    const changed = !same.has(i);
    const last = out.at(-1);
    if (last && last.changed === changed) last.text += text;
    else out.push({ text, changed });
  });
  return out;
}
