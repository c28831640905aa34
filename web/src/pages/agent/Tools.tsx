import type { RefObject } from "react";
import type { Schema } from "../../api/client";
import { Button } from "../../ui/Button";
import { Field } from "../../ui/Field";
import { Pick } from "../../ui/Pick";
import { Seg } from "../../ui/Seg";
import { reasonWords } from "./runWords";

export type View = "conversation" | "diff" | "raw" | "facts";

interface Props {
  view: View;
  onView: (view: View) => void;
  files: number;
  runs: Schema<"Run">[];
  run: string | undefined;
  onRun: (run: string) => void;
  following: boolean;
  onFollow: () => void;
  find: string;
  onFind: (text: string) => void;
  onNext: (back: boolean) => void;
  /** "3 of 17". */
  found: string;
  field: RefObject<HTMLDivElement | null>;
}

/** Which view, which run, a search, and whether it follows. */
export function Tools(props: Props) {
  const { view, onView, files, following, onFollow } = props;
  const talk = view === "conversation";
  return (
    <div className="flex h-10 flex-none items-center gap-2 border-b border-line px-4 max-tab:h-12 max-tab:px-3">
      <Seg
        label="View"
        value={view}
        onChoose={onView}
        choices={[{ value: "conversation", text: "Conversation" }, { value: "diff", text: "Diff", count: files > 0 ? files : undefined }, { value: "raw", text: "Raw" }]}
      />
      <button type="button" aria-pressed={view === "facts"} onClick={() => onView("facts")} className="h-(--control) rounded-box px-2 text-ink-2 hover:bg-hover aria-pressed:bg-here aria-pressed:font-mid aria-pressed:text-ink desk:hidden">Facts</button>
      <span className="flex-1" />
      {(talk || view === "raw") && <RunChoice {...props} />}
      {talk && <Find {...props} />}
      {talk && <Button icon={following ? "u-pause" : "u-follow"} aria-label={following ? "Pause following" : "Follow"} onClick={onFollow} />}
    </div>
  );
}

function RunChoice({ runs, run, onRun }: Props) {
  const [newest, ...before] = runs.filter((one) => one.kind === "agent").toReversed();
  if (!newest || before.length === 0) return null;
  // The newest one is shown as it grows; one that is older is gone to.
  const choices = [{ value: "", text: `Run ${newest.sessionNumber}` }, ...before.map((one) => ({ value: String(one.sessionNumber), text: `Run ${one.sessionNumber}, ${reasonWords(one.reason)}` }))];
  return <span className="max-tab:hidden"><Pick label="Run" value={run === String(newest.sessionNumber) ? "" : (run ?? "")} choices={choices} onChoose={onRun} /></span>;
}

function Find({ find, onFind, onNext, found, field }: Props) {
  return (
    <div
      ref={field}
      className="flex items-center gap-2 max-tab:hidden"
      onKeyDown={(event) => {
        if (event.key === "Enter") onNext(event.shiftKey);
        if (event.key !== "Escape") return;
        onFind("");
        (event.target as HTMLElement).blur();
      }}
    >
      {find !== "" && <span role="status" className="text-12 text-ink-3 tabular-nums">{found}</span>}
      <Field label="Search in this conversation" icon="u-search" keys="/" placeholder="Search" size={12} value={find} onText={onFind} />
    </div>
  );
}
