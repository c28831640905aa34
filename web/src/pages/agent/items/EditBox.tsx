import { useState } from "react";
import { cx } from "../../../lib/cx";
import { grouped, inert } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import { PlusMinus } from "../../review/diff/PlusMinus";
import type { Edit, EditLine } from "../edits";
import { Box } from "./Box";

const LINES = 24;

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
  const shown = all ? edit.lines : edit.lines.slice(0, LINES);
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
      {open && shown.length > 0 ? (
        <>
          <div role="group" aria-label={`Change of ${path}`} tabIndex={0} className="overflow-x-auto font-mono text-12 leading-4.75">
            {shown.map((line, i) => (
              <DiffLine key={i} line={line} />
            ))}
          </div>
          {shown.length < edit.lines.length && (
            <Button look="quiet" className="m-1 text-12" onClick={() => setAll(true)}>Show all {grouped(edit.lines.length)} lines</Button>
          )}
        </>
      ) : null}
    </Box>
  );
}

const grounds = { "+": "bg-add-bg shadow-[inset_2px_0_0_var(--color-done)]", "-": "bg-del-bg shadow-[inset_2px_0_0_var(--color-fail)]", " ": "", "…": "text-ink-3" };
const inks = { "+": "text-done", "-": "text-fail", " ": "", "…": "" };

function DiffLine({ line }: { line: EditLine }) {
  return (
    <div className={cx("grid min-w-max grid-cols-[2rem_max-content] whitespace-pre", grounds[line.sign])}>
      <span className={cx("text-center select-none", inks[line.sign])}>{line.sign === "-" ? "−" : line.sign}</span>
      <span className="pr-3">{inert(line.text.slice(0, 2000))}</span>
    </div>
  );
}
