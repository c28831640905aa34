import { useState } from "react";
import { cx } from "../../lib/cx";
import { Button } from "../../ui/Button";
import type { DiffRow } from "./proposalRows";

/** More lines than this wait behind a button. */
const MOST = 30;

const signs = { add: "+", del: "−", same: " ", skip: "⋯" };
const words = { add: "added: ", del: "removed: ", same: "", skip: "" };

/** Lines that came and went, with the words that did. */
export function DiffLines({ rows }: { rows: DiffRow[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, MOST);
  return (
    <div className="overflow-hidden rounded-box border border-line text-12">
      {shown.map((row, i) => (
        <p
          key={i}
          className={cx(
            "grid grid-cols-[1.25rem_minmax(0,1fr)] border-l-2 py-0.75 pr-2 pl-0.5 break-words",
            row.kind === "add" ? "border-done bg-add-bg" : row.kind === "del" ? "border-fail bg-del-bg" : "border-transparent text-ink-3",
          )}
        >
          <span aria-hidden="true" className={cx("text-center font-mono", row.kind === "add" ? "text-done" : row.kind === "del" ? "text-fail" : "text-ink-3")}>{signs[row.kind]}</span>
          <span className="whitespace-pre-wrap">
            <span className="sr-only">{words[row.kind]}</span>
            {row.pieces.map((piece, j) => (piece.marked ? <mark key={j} className={cx("rounded-chip text-current", row.kind === "add" ? "bg-add-hi" : "bg-del-hi")}>{piece.text}</mark> : piece.text))}
          </span>
        </p>
      ))}
      {rows.length > shown.length && <Button look="quiet" className="w-full" onClick={() => setAll(true)}>Show all {rows.length} lines</Button>}
    </div>
  );
}
