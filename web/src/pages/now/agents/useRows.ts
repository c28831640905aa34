import { defaultRangeExtractor, useVirtualizer, useWindowVirtualizer, type Range, type Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useState, type RefObject } from "react";
import type { Row } from "./rows";

/** Heights in pixels: of the tokens --row, and of what a phone shows in three lines. */
const heights = { desk: { agent: 30, group: 30 }, phone: { agent: 70, group: 32 } };
/** What lies over the top of the list: filters and column heads. */
const head = { desk: 70, phone: 100 };

interface Options {
  rows: Row[];
  list: RefObject<HTMLDivElement | null>;
  /** A row that stays there when it is out of view, because it has the focus; -1: none. */
  kept: number;
}

/** Where the list begins in what scrolls. It moves when the inbox above it grows. */
function useTop(list: RefObject<HTMLDivElement | null>, scrolled: () => { top: number; offset: number }): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const one = list.current;
    const flow = one?.closest("[data-flow]");
    if (!one || !flow) return;
    const measure = () => {
      const at = scrolled();
      setTop(Math.round(one.getBoundingClientRect().top - at.top + at.offset));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(flow);
    return () => watch.disconnect();
  }, [list, scrolled]);
  return top;
}

function shared({ rows, kept }: Options, size: keyof typeof heights) {
  return {
    count: rows.length,
    estimateSize: (i: number) => heights[size][rows[i]?.kind ?? "agent"],
    getItemKey: (i: number) => rows[i]?.key ?? i,
    overscan: 8,
    scrollPaddingStart: head[size],
    scrollPaddingEnd: 8,
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return kept < 0 || kept >= rows.length || shown.includes(kept) ? shown : [...shown, kept].sort((a, b) => a - b);
    },
  };
}

const main = () => document.getElementById("main");

/** The rows in view, where the page's own part scrolls. */
export function useDeskRows(options: Options): Virtualizer<HTMLElement, Element> {
  const scrolled = useCallback(() => ({ top: main()?.getBoundingClientRect().top ?? 0, offset: main()?.scrollTop ?? 0 }), []);
  const scrollMargin = useTop(options.list, scrolled);
  return useVirtualizer<HTMLElement, Element>({ ...shared(options, "desk"), getScrollElement: main, scrollMargin });
}

/** The rows in view, where the whole window scrolls. */
export function usePhoneRows(options: Options): Virtualizer<Window, Element> {
  const scrolled = useCallback(() => ({ top: 0, offset: scrollY }), []);
  const scrollMargin = useTop(options.list, scrolled);
  return useWindowVirtualizer<Element>({ ...shared(options, "phone"), scrollMargin });
}

/** The first row in view, below what lies over it. */
export function firstInView(rows: Virtualizer<HTMLElement, Element> | Virtualizer<Window, Element>): number {
  const top = (rows.scrollOffset ?? 0) + (rows.options.scrollPaddingStart ?? 0);
  return rows.getVirtualItems().find((item) => item.end > top)?.index ?? 0;
}
