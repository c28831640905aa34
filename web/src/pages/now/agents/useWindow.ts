import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, type RefObject } from "react";
import { inView, offsetsOf, rowAt, scrollFor, type View } from "./window";

interface Options {
  heights: number[];
  list: RefObject<HTMLElement | null>;
  /** What lies over the top of what scrolls, in pixels. */
  head: number;
  /** A row that stays there when it is out of view, because it has the focus; -1: none. */
  kept: number;
}

export interface Window {
  /** Indices of the rows to paint. */
  rows: number[];
  /** Where each row begins; the last entry is the height of all. */
  offsets: number[];
  /** The first row in view. */
  first: () => number;
  /** Brings a row into view, with as little movement as it takes. */
  reveal: (row: number) => void;
}

const main = () => document.getElementById("main");
/** On a phone the whole window scrolls, else the page's own part. */
const scroller = (): HTMLElement | null => {
  const one = main();
  return one && getComputedStyle(one).overflowY !== "visible" ? one : null;
};

/** What is seen of a list, from where it is on the screen. */
function viewOf(list: HTMLElement | null, head: number): View {
  if (!list) return { top: 0, bottom: innerHeight };
  const begins = list.getBoundingClientRect().top;
  const frame = scroller()?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return { top: frame.top + head - begins, bottom: frame.bottom - begins };
}

/** Paints of a long list the rows in view alone. */
export function useWindow({ heights, list, head, kept }: Options): Window {
  const [, paint] = useReducer((n: number) => n + 1, 0);
  const offsets = useMemo(() => offsetsOf(heights), [heights]);
  const rows = inView(offsets, viewOf(list.current, head), kept);
  const painted = useRef(rows);
  painted.current = rows;
  const now = useRef({ offsets, head, kept });
  now.current = { offsets, head, kept };

  useLayoutEffect(() => paint(), []); // the list is there now, and has its place
  useEffect(() => {
    const look = () => {
      const one = now.current;
      const next = inView(one.offsets, viewOf(list.current, one.head), one.kept);
      const before = painted.current;
      if (next.length !== before.length || next[0] !== before[0] || next.at(-1) !== before.at(-1)) paint();
    };
    const end = new AbortController();
    // Both scroll events are caught before they reach their target: that of the window, and that of the page's part.
    addEventListener("scroll", look, { capture: true, passive: true, signal: end.signal });
    addEventListener("resize", look, { signal: end.signal });
    const flow = list.current?.closest("[data-flow]");
    const watch = new ResizeObserver(look);
    if (flow) watch.observe(flow); // the inbox above it grew
    return () => {
      end.abort();
      watch.disconnect();
    };
  }, [list]);

  return {
    rows,
    offsets,
    first: () => rowAt(offsets, viewOf(list.current, head).top),
    reveal: (row) => {
      const by = scrollFor(offsets, viewOf(list.current, head), row);
      if (by !== 0) (scroller() ?? window).scrollBy({ top: by });
    },
  };
}
