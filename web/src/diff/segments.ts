import type { Ink, Token } from "./syntax";
import type { Range } from "./wordDiff";

/** A piece of a line that is painted in one way. */
export interface Segment {
  text: string;
  ink: Ink;
  /** It is what changed in the line. */
  marked: boolean;
}

/** Lays the changed words over the inks. */
export function segments(tokens: Token[], marks: Range[]): Segment[] {
  const out: Segment[] = [];
  let at = 0;
  for (const token of tokens) {
    const end = at + token.text.length;
    while (at < end) {
      const mark = marks.find((one) => one.to > at);
      const marked = mark !== undefined && mark.from <= at;
      const to = Math.min(end, mark === undefined ? end : marked ? mark.to : mark.from);
      out.push({ text: token.text.slice(at - (end - token.text.length), to - (end - token.text.length)), ink: token.ink, marked });
      at = to;
    }
  }
  return out;
}
