import { useRef, useState } from "react";
import type { Dispatch, InitiativeView } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { sayFailed } from "../../app/notices";
import { cx } from "../../lib/cx";
import { useMutation } from "../../lib/useMutation";
import { oneLine } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { PhaseDialog } from "./PhaseDialog";
import { TaskDialog } from "./TaskDialog";
import { mergedOf } from "./mark";
import { lineAt, linesOf, progressOf, type PhaseRow, type TaskRow } from "./tree";

interface Props {
  tree: PhaseRow[];
  view: InitiativeView;
  dispatch: Dispatch | undefined;
  selected: string;
  onSelect: (task: string) => void;
  className: string;
}

/** Phases and their tasks. One that waits says why. */
export function TaskTree({ tree, view, dispatch, selected, onSelect, className }: Props) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<"task" | "phase" | PhaseRow | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const lines = linesOf(tree, folded);
  const fold = (id: string) => setFolded((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])));
  const move = (n: number) => {
    const at = (document.activeElement as HTMLElement | null)?.dataset.line ?? selected;
    const line = lineAt(lines, at, n);
    if (line) list.current?.querySelector<HTMLElement>(`[data-line="${line.id}"]`)?.focus();
  };
  const active = view.status === "active";
  useKeys("Tasks", [
    { key: "j", does: "move", hint: true, run: () => move(1) },
    { key: "k", does: "move", run: () => move(-1) },
    ...(active ? [{ key: "shift+c", does: "new task", run: () => setDialog(tree.length === 0 ? "phase" : "task") }] : []),
  ]);
  return (
    <section aria-label="Tasks" className={cx("min-h-0 overflow-auto border-r border-line pb-4 max-tab:border-r-0", className)}>
      <div className="flex h-9 items-center gap-2 pr-3 pl-4">
        <h2 className="font-bold">Tasks</h2>
        <span className="text-ink-3 tabular-nums">{mergedOf(progressOf(view.tasks))}</span>
        <span className="flex-1" />
        {active && <Button look="quiet" icon="u-plus" aria-label={tree.length === 0 ? "New phase" : "New task"} onClick={() => setDialog(tree.length === 0 ? "phase" : "task")} />}
      </div>
      <Halted view={view} dispatch={dispatch} />
      <ul ref={list}>
        {tree.map((phase) => (
          <li key={phase.phase.id}>
            <PhaseHead phase={phase} open={!folded.has(phase.phase.id)} active={active} onFold={() => fold(phase.phase.id)} onEdit={() => setDialog(phase)} />
            {!folded.has(phase.phase.id) && (
              <ul>
                {phase.tasks.map((row) => (
                  <TaskLine key={row.task.id} row={row} selected={row.task.id === selected} onSelect={onSelect} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {tree.length === 0 && <p className="px-4 py-1 text-ink-2">No phases yet. An architect suggests them, or you make them here.</p>}
      {active && tree.length > 0 && <Button look="quiet" icon="u-plus" className="mt-2 ml-3" onClick={() => setDialog("phase")}>New phase</Button>}
      {dialog === "task" && <TaskDialog view={view} onClose={() => setDialog(null)} />}
      {dialog === "phase" && <PhaseDialog view={view} onClose={() => setDialog(null)} />}
      {dialog !== null && typeof dialog === "object" && <PhaseDialog view={view} phase={dialog.phase} onClose={() => setDialog(null)} />}
    </section>
  );
}

/** Why nothing at all is started, when that is so. */
function Halted({ view, dispatch }: { view: InitiativeView; dispatch: Dispatch | undefined }) {
  const text =
    view.status !== "active" ? "Archived: nothing in it changes any more."
    : view.work.hold ? "Paused: no more tasks are started. Agents that run work on."
    : dispatch?.state === "paused" ? "The dispatcher is paused, in all initiatives: nothing is started or merged."
    : dispatch?.state === "draining" ? "The dispatcher drains, in all initiatives: nothing new is started."
    : dispatch?.pressure;
  return text ? <p className="mx-4 mb-1 rounded-box bg-held-bg px-2 py-1 text-12 text-ink">{text}</p> : null;
}

function PhaseHead({ phase, open, active, onFold, onEdit }: { phase: PhaseRow; open: boolean; active: boolean; onFold: () => void; onEdit: () => void }) {
  return (
    <div className="group mt-1 flex min-h-(--row) items-center gap-2 pr-3 hover:bg-hover">
      <button type="button" data-line={phase.phase.id} aria-expanded={open} onClick={onFold} className="flex h-(--row) min-w-0 flex-1 items-center gap-2 pl-4 text-left font-bold">
        <Icon name={open ? "u-down" : "u-right"} small className="text-ink-3" />
        <Icon name={phase.mark.icon} className={phase.mark.tone} label={phase.mark.word} />
        <span className="truncate">{phase.phase.position + 1} {oneLine(phase.phase.name)}</span>
      </button>
      {active && phase.phase.status === "draft" && <Approve phase={phase} />}
      {active && <Button look="quiet" icon="u-edit" aria-label={`Edit phase ${oneLine(phase.phase.name)}`} onClick={onEdit} className="hidden! group-focus-within:inline-flex! group-hover:inline-flex!" />}
      <span className="text-12 text-ink-3 tabular-nums">{phase.done}/{phase.of}</span>
    </div>
  );
}

function Approve({ phase }: { phase: PhaseRow }) {
  const { client } = useCw();
  const approve = useMutation({
    mutationFn: () => client.post("/v1/phases/{phase}", { path: { phase: phase.phase.id }, body: { status: "approved" } }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <Button acting={approve.isPending} onClick={() => approve.mutate()} title="Its tasks are started as soon as they can be" className="h-6!">
      Approve
    </Button>
  );
}

function TaskLine({ row, selected, onSelect }: { row: TaskRow; selected: boolean; onSelect: (task: string) => void }) {
  return (
    <li>
      <button
        type="button"
        data-line={row.task.id}
        aria-current={selected || undefined}
        onClick={() => onSelect(row.task.id)}
        className="grid min-h-7 w-full grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-x-2 py-1 pr-3 pl-9 text-left text-ink-2 hover:bg-hover aria-[current]:bg-select aria-[current]:text-ink max-tab:min-h-9"
      >
        <Icon name={row.mark.icon} className={row.mark.tone} label={row.mark.word} />
        <span className="truncate" title={row.name}>{row.name}</span>
        <span className="max-w-28 truncate text-12 text-ink-3">{row.who}</span>
        {row.why && <span className={cx("col-span-2 col-start-2 line-clamp-2 text-11", row.person ? "text-need" : "text-ink-3")} title={row.why}>{row.why}</span>}
      </button>
    </li>
  );
}
