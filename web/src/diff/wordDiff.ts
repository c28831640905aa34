/** From inclusive, to exclusive, in characters. */
export interface Range {
  from: number;
  to: number;
}

/** Longer lines are not compared word by word: it would take time, and nobody reads it. */
const LONGEST = 1000;

/** The words that two lines do not share. Nothing when they share too little to be versions of one line. */
export function wordDiff(before: string, after: string): { before: Range[]; after: Range[] } {
  const none = { before: [], after: [] };
  if (before.length > LONGEST || after.length > LONGEST) return none;
  const a = wordsOf(before);
  const b = wordsOf(after);
  const common = shared(a, b);
  const kept = common.reduce((sum, [i]) => sum + (a[i]?.trim().length ?? 0), 0);
  if (kept * 4 < Math.min(before.trim().length, after.trim().length)) return none;
  return { before: others(a, new Set(common.map(([i]) => i))), after: others(b, new Set(common.map(([, j]) => j))) };
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** The longest common subsequence, as pairs of places. */
function shared(a: string[], b: string[]): [number, number][] {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const here = i * width + j;
      best[here] = a[i] === b[j] ? (best[here + width + 1] ?? 0) + 1 : Math.max(best[here + width] ?? 0, best[here + 1] ?? 0);
    }
  }
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const here = i * width + j;
    if (a[i] === b[j]) out.push([i++, j++]);
    else if ((best[here + width] ?? 0) >= (best[here + 1] ?? 0)) i++;
    else j++;
  }
  return out;
}

/** Where the words stand that are not kept; neighbours become one. */
function others(words: string[], kept: Set<number>): Range[] {
  const out: Range[] = [];
  let at = 0;
  words.forEach((word, i) => {
    const last = out.at(-1);
    if (!kept.has(i)) {
      if (last?.to === at) last.to = at + word.length;
      else out.push({ from: at, to: at + word.length });
    }
    at += word.length;
  });
  return out;
}
