import { cx } from "../lib/cx";
import { grouped } from "../lib/words";
import { CodeLine } from "./CodeLine";
import type { Line } from "./patch";
import type { Painted, Row } from "./rows";

/** A line that somebody chose to remark on. */
export type OnLine = (side: "old" | "new", line: Line) => void;

const grounds = { same: "", add: "bg-add-bg", del: "bg-del-bg" };
const signs = { same: " ", add: "+", del: "−" };
const spoken = { same: "", add: "added", del: "removed" };

/** One row of a diff. Without onLine it is only read. */
export function DiffRow({ row, onLine }: { row: Row; onLine?: OnLine | undefined }) {
  switch (row.kind) {
    case "hunk":
      return (
        <div className="flex h-6.5 items-center gap-3 border-y border-line bg-sunken px-3 font-mono text-12 text-ink-3">
          <span aria-hidden="true">…</span>
          {row.hidden > 0 && <span className="font-sans">{grouped(row.hidden)} {row.hidden === 1 ? "line" : "lines"} hidden</span>}
          <span className="truncate">{row.hunk.section}</span>
        </div>
      );
    case "line":
      return (
        <div className="grid grid-cols-[2.75rem_2.75rem_1.125rem_minmax(0,1fr)] max-tab:grid-cols-[2.25rem_1rem_minmax(0,1fr)]">
          <Number line={row.painted.line} side="old" onLine={onLine} className="max-tab:hidden" />
          <Number line={row.painted.line} side="new" onLine={onLine} />
          <Sign painted={row.painted} />
          <Code painted={row.painted} />
        </div>
      );
    case "pair":
      return (
        <div className="grid grid-cols-2">
          <Half painted={row.left} side="old" onLine={onLine} />
          <Half painted={row.right} side="new" onLine={onLine} />
        </div>
      );
  }
}

function Half({ painted, side, onLine }: { painted: Painted | null; side: "old" | "new"; onLine: OnLine | undefined }) {
  const edge = side === "new" && "border-l border-line";
  if (!painted) return <div className={cx("bg-[repeating-linear-gradient(135deg,transparent_0_5px,var(--color-line)_5px_6px)] opacity-70", edge)} />;
  return (
    <div className={cx("grid grid-cols-[2.75rem_1.125rem_minmax(0,1fr)]", edge)}>
      <Number line={painted.line} side={side} onLine={onLine} />
      <Sign painted={painted} />
      <Code painted={painted} />
    </div>
  );
}

/** The number of a line; pressing it begins a remark. */
function Number({ line, side, onLine, className }: { line: Line; side: "old" | "new"; onLine: OnLine | undefined; className?: string }) {
  const n = side === "old" ? line.old : line.new;
  // On a phone there is one column, so a removed line shows its old number there.
  const shown = n ?? (side === "new" ? line.old : null);
  const look = cx("pr-1.5 text-right text-11 leading-[1.1875rem] text-ink-3 select-none max-tab:leading-6", grounds[line.kind], className, n === null && "tab:invisible");
  if (shown === null || !onLine) return <span className={look}>{shown ?? ""}</span>;
  const asked = n === null ? "old" : side;
  return (
    <button type="button" className={cx(look, "flex items-start justify-end hover:text-ink hover:underline")} aria-label={`Comment on line ${shown}`} onClick={() => onLine(asked, line)}>
      {shown}
    </button>
  );
}

function Sign({ painted }: { painted: Painted }) {
  const { kind } = painted.line;
  return (
    <span className={cx("text-center select-none", grounds[kind], kind === "add" ? "font-bold text-done" : kind === "del" ? "font-bold text-fail" : "")}>
      <span aria-hidden="true">{signs[kind]}</span>
      <span className="sr-only">{spoken[kind]}</span>
    </span>
  );
}

function Code({ painted }: { painted: Painted }) {
  return (
    <code className={cx("min-w-0 pr-2 text-12 leading-[1.1875rem] max-tab:leading-6 wrap-anywhere whitespace-pre-wrap", grounds[painted.line.kind])}>
      <CodeLine painted={painted} />
    </code>
  );
}
