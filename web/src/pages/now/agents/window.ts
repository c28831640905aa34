/*
 * Which rows of a long list are in view. All heights are known before anything
 * is painted, so this is arithmetic: one sum for each row, one search for each
 * scroll.
 */

/** Where each row begins, in pixels from the head of the list; the last entry is where the list ends. */
export function offsetsOf(heights: number[]): number[] {
  const offsets = [0];
  for (const height of heights) offsets.push((offsets.at(-1) ?? 0) + height);
  return offsets;
}

/** The row at a place of the list, by halving; the first or last one beyond its ends. */
export function rowAt(offsets: number[], place: number): number {
  let low = 0;
  let high = Math.max(0, offsets.length - 2);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((offsets[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** What is seen of the list: from where to where, in pixels from its head. It may lie outside of it. */
export interface View {
  top: number;
  bottom: number;
}

/** Rows to paint beyond both ends of the view, so that scrolling shows no gap. */
const MARGIN = 8;

/** The rows to paint, in order: those in view, some beside them, and one that is kept because it has the focus. */
export function inView(offsets: number[], view: View, kept: number): number[] {
  const count = offsets.length - 1;
  if (count <= 0) return [];
  const from = Math.max(0, rowAt(offsets, view.top) - MARGIN);
  const to = Math.min(count - 1, rowAt(offsets, view.bottom) + MARGIN);
  const rows = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  if (kept < 0 || kept >= count || (kept >= from && kept <= to)) return rows;
  return kept < from ? [kept, ...rows] : [...rows, kept];
}

/** How far to scroll so that a row is whole in view; 0: it is. */
export function scrollFor(offsets: number[], view: View, row: number): number {
  const start = offsets[row] ?? 0;
  const end = offsets[row + 1] ?? start;
  if (start < view.top) return start - view.top;
  return end > view.bottom ? end - view.bottom : 0;
}
