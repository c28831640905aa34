import { useVirtualizer } from "@tanstack/react-virtual";
import { forwardRef, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";
import type { Row } from "./rows";

export interface StreamHandle {
  toEnd: () => void;
  toRow: (index: number) => void;
}

interface Props {
  rows: Row[];
  paint: (row: Row) => React.ReactNode;
  following: boolean;
  /** A person scrolled: to the end, or away from it. */
  onFollowing: (following: boolean) => void;
  /** The beginning, or the end, of what is held comes into sight. */
  onStart: () => void;
  onEnd: () => void;
}

/** How near to an end the next page is read, in pixels. */
const NEAR = 1200;
/** How near the end counts as there. */
const AT_END = 24;

/** A first guess of a row's height. */
function guess(row: Row): number {
  if (row.kind === "run") return 40;
  if (row.kind !== "item") return 80;
  switch (row.item.kind) {
    case "say":
      return 38 + 22 * Math.ceil(row.item.text.length / 90);
    case "tool":
      return row.item.edits.length > 0 ? 60 + 19 * Math.min(24, row.item.edits[0]?.lines.length ?? 0) : 26;
    case "plan":
      return row.item.latest ? 60 + 24 * row.item.steps.length : 26;
    case "think":
      return 26;
  }
  return 44;
}

/** The rows that are in sight, in a box that scrolls. Rows that come before others, or grow, move nothing that is read. */
export const Stream = forwardRef<StreamHandle, Props>(function Stream({ rows, paint, following, onFollowing, onStart, onEnd }, handle) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => guess(rows[index] as Row),
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    overscan: 8,
    anchorTo: "end",
    followOnAppend: following,
    scrollEndThreshold: following ? AT_END : 0,
    paddingStart: 8,
    paddingEnd: 24,
  });
  const last = useRef(0);
  const total = virtual.getTotalSize();

  const toEnd = useCallback(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    if (following) toEnd();
  }, [following, total, rows.length, toEnd]);
  useImperativeHandle(handle, () => ({ toEnd, toRow: (index) => virtual.scrollToIndex(index, { align: "start" }) }), [toEnd, virtual]);

  const look = useCallback(() => {
    const one = box.current;
    if (!one) return;
    if (one.scrollTop < NEAR) onStart();
    if (one.scrollHeight - one.scrollTop - one.clientHeight < NEAR) onEnd();
  }, [onStart, onEnd]);
  useEffect(look, [look, total]);

  const scrolled = () => {
    const one = box.current;
    if (!one) return;
    const up = one.scrollTop < last.current - 2;
    last.current = one.scrollTop;
    if (one.scrollHeight - one.scrollTop - one.clientHeight < AT_END) onFollowing(true);
    else if (up) onFollowing(false);
    look();
  };
  return (
    <div ref={box} onScroll={scrolled} tabIndex={0} role="log" aria-label="Events" aria-live="off" className="min-h-0 flex-1 overflow-auto overscroll-contain px-4 [overflow-anchor:none] max-tab:px-2">
      <ol className="relative mx-auto max-w-200" style={{ height: `${total}px` }}>
        {virtual.getVirtualItems().map((one) => (
          <li key={one.key} ref={virtual.measureElement} data-index={one.index} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${one.start}px)` }}>
            {paint(rows[one.index] as Row)}
          </li>
        ))}
      </ol>
    </div>
  );
});
