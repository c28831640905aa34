import { useMemo, useState } from "react";
import { CodeLine } from "../../../diff/CodeLine";
import { paint, type Painted } from "../../../diff/paint";
import { PlusMinus } from "../../../diff/PlusMinus";
import { cx } from "../../../lib/cx";
import { grouped } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import type { Edit, EditLine } from "../edits";
import { Box } from "./Box";

/** So many lines are shown before somebody asks for all of them, and so much of each line. */
const LINES = 24;
const LONG = 2000;

interface Props {
  word: string;
  edit: Edit;
  path: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** Why it is not so, or not yet: "failed", "running". */
  state: string;
}

/** A change of a file as a small diff. */
export function EditBox({ word, edit, path, open, onOpen, state }: Props) {
  const [all, setAll] = useState(false);
  const painted = useMemo(() => (open ? paint(edit.path, (all ? edit.lines : edit.lines.slice(0, LINES)).map(shortened)) : []), [edit, open, all]);
  const numbers = edit.lines.some((line) => line.old !== undefined || line.new !== undefined);
  const head = (
    <button type="button" aria-expanded={open} onClick={() => onOpen(!open)} className="flex min-w-0 flex-1 items-center gap-2 text-left">
      <b className="font-mid text-ink">{word}</b>
      <code className="min-w-0 truncate" title={edit.path}>{path}</code>
      <span className="ml-auto flex flex-none items-center gap-2 tabular-nums">
        {state !== "" && <span className={state === "running" ? "text-ink-3" : "text-fail"}>{state}</span>}
        <PlusMinus additions={edit.added} deletions={edit.removed} />
      </span>
    </button>
  );
  return (
    <Box head={head}>
      {painted.length > 0 ? (
        <>
          <div role="group" aria-label={`Change of ${path}`} tabIndex={0} className="overflow-x-auto font-mono text-12 leading-4.75">
            {painted.map((one, i) => (
              <DiffLine key={i} painted={one} numbers={numbers} />
            ))}
          </div>
          {painted.length < edit.lines.length && (
            <Button look="quiet" className="m-1 text-12" onClick={() => setAll(true)}>Show all {grouped(edit.lines.length)} lines</Button>
          )}
        </>
      ) : null}
    </Box>
  );
}

/** A line without end is shown without its end: Raw has all of it. */
function shortened(line: EditLine): EditLine {
  return line.text.length > LONG ? { ...line, text: line.text.slice(0, LONG) } : line;
}

const grounds = { add: "bg-add-bg shadow-[inset_2px_0_0_var(--color-done)]", del: "bg-del-bg shadow-[inset_2px_0_0_var(--color-fail)]", same: "", gap: "text-ink-3" };
const inks = { add: "text-done", del: "text-fail", same: "", gap: "" };
const signs = { add: "+", del: "−", same: "", gap: "…" };
const spoken = { add: "added", del: "removed", same: "", gap: "" };

/** A line with its number where that is known, its sign, and its text in inks. */
function DiffLine({ painted, numbers }: { painted: Painted<EditLine>; numbers: boolean }) {
  const { kind, old, new: now } = painted.line;
  return (
    <div className={cx("grid min-w-max whitespace-pre", numbers ? "grid-cols-[3rem_1.25rem_max-content]" : "grid-cols-[2rem_max-content]", grounds[kind])}>
      {numbers && <span className="text-right text-11 text-ink-3 select-none">{now ?? old}</span>}
      <span className={cx("text-center select-none", inks[kind])}>
        <span aria-hidden="true">{signs[kind]}</span>
        <span className="sr-only">{spoken[kind]}</span>
      </span>
      <code className="pr-3 text-12"><CodeLine painted={painted} /></code>
    </div>
  );
}
