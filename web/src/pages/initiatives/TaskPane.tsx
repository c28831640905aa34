import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { taskQuery, type InitiativeView, type Task } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { outsideText } from "../../lib/outside";
import { inert, oneLine } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Failure } from "../../ui/Failure";
import { Icon } from "../../ui/Icon";
import { Markdown } from "../../ui/Markdown";
import { Status } from "../../ui/Status";
import { Checkpoint } from "./Checkpoint";
import { TaskActions } from "./TaskActions";
import { TaskDialog } from "./TaskDialog";
import type { PhaseRow, TaskRow } from "./tree";

interface Props {
  head: Task;
  tree: PhaseRow[];
  view: InitiativeView;
  onSelect: (task: string | undefined) => void;
}

const types: Record<string, string> = {
  auto: "an agent does it",
  "checkpoint:verify": "an agent does it, and a person looks at the result",
  "checkpoint:decision": "a person decides",
  "checkpoint:action": "a person does it",
};

/** Everything about one task, and what can be done with it. */
export function TaskPane({ head, tree, view, onSelect }: Props) {
  const { client } = useCw();
  const [editing, setEditing] = useState(false);
  const whole = useQuery(taskQuery(client, head.id));
  const task = { ...head, ...whole.data };
  const phase = tree.find((one) => one.phase.id === head.phaseId);
  const row = phase?.tasks.find((one) => one.task.id === head.id);
  if (!row) return null;
  const dispatchName = row.who !== "you" && row.who !== "next" && !row.who.startsWith("queue") ? row.who : "";
  return (
    <article className="mx-auto grid max-w-180 gap-4 px-8 py-4 max-tab:px-4">
      <header className="grid gap-2">
        <div className="flex items-center gap-3">
          <Status mark={row.mark} />
          <span className="min-w-0 truncate text-ink-3">{phase && `${phase.phase.position + 1} ${oneLine(phase.phase.name)}`}</span>
          <span className="flex-1" />
          <Button look="quiet" icon="u-x" aria-label="Close the task" onClick={() => onSelect(undefined)} />
        </div>
        <h2 className="text-20 font-bold tracking-tight break-words">{row.name}</h2>
        {row.why && <p className={row.person ? "text-need" : "text-ink-2"}>{row.why}</p>}
        {task.outside && <p className="text-need">{`The work ${outsideText(task.outside.total, task.outside.files ?? [])}`}</p>}
      </header>
      {view.status === "active" && row.person && task.type !== "auto" && whole.data && <Checkpoint task={task} />}
      {view.status === "active" && <TaskActions task={task} onEdit={whole.data && (() => setEditing(true))} />}
      {whole.error && <Failure what="The text of the task could not be read" error={whole.error} onRetry={() => void whole.refetch()} />}
      {task.body && <div className="text-14"><Markdown text={task.body} /></div>}
      <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-4 gap-y-1.5 border-t border-line pt-3 max-tab:grid-cols-1">
        <Fact name="Done when">{task.checks.length > 0 && <Lines of={task.checks} />}</Fact>
        <Fact name="Comes after">{task.dependsOn.length > 0 && <Before ids={task.dependsOn} tree={tree} onSelect={onSelect} />}</Fact>
        <Fact name="May touch">{task.paths.length > 0 && <Lines of={task.paths} mono />}</Fact>
        <Fact name="Who">{types[task.type] ?? task.type}</Fact>
        <Fact name="Agent">{dispatchName && <AgentLink name={dispatchName} steps={row.steps} />}</Fact>
        <Fact name="Size">{task.size}, priority {task.priority}</Fact>
        <Fact name="Tries">{(task.tries ?? 0) > 0 && `${task.tries} failed, ${task.starts ?? 0} started`}</Fact>
        <Fact name="Result">{task.summary && <Markdown text={task.summary} />}</Fact>
        <Fact name="Said last">{task.comment && <span className="whitespace-pre-wrap">{inert(task.comment)}</span>}</Fact>
        <Fact name="Evidence">{task.blocked && <pre className="max-h-80 overflow-auto rounded-box bg-sunken p-2 text-12 whitespace-pre-wrap">{inert(task.blocked)}</pre>}</Fact>
      </dl>
      {editing && <TaskDialog view={view} task={task} onClose={() => setEditing(false)} />}
    </article>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <>
      <dt className="text-12 leading-5 text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words max-tab:mb-1">{children}</dd>
    </>
  );
}

function Lines({ of, mono }: { of: string[]; mono?: boolean }) {
  return (
    <ul>
      {of.map((line) => (
        <li key={line} className={mono ? "font-mono text-12 leading-5" : ""}>{oneLine(line)}</li>
      ))}
    </ul>
  );
}

function Before({ ids, tree, onSelect }: { ids: string[]; tree: PhaseRow[]; onSelect: (task: string) => void }) {
  const rows = new Map<string, TaskRow>(tree.flatMap((phase) => phase.tasks.map((row) => [row.task.id, row])));
  return (
    <ul>
      {ids.map((id) => {
        const row = rows.get(id);
        return (
          <li key={id}>
            {row ? (
              <button type="button" onClick={() => onSelect(id)} className="inline-flex max-w-full items-center gap-1.5 text-left hover:underline">
                <Icon name={row.mark.icon} small className={row.mark.tone} label={row.mark.word} />
                <span className="truncate">{row.name}</span>
              </button>
            ) : (
              <span className="text-ink-3">a cancelled task ({id})</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function AgentLink({ name, steps }: { name: string; steps: string }) {
  return (
    <>
      <Link to="/agents/$name" params={{ name }} className="underline decoration-line-3 underline-offset-2">{name}</Link>
      {steps && <span className="text-ink-3"> {steps} steps</span>}
    </>
  );
}
