import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schema } from "../../api/client";
import { taskQuery } from "../../api/initiativeQueries";
import { initiativesQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { PlusMinus } from "../../diff/PlusMinus";
import { useNow } from "../../lib/clock";
import { count, dollars, grouped, oneLine, span, tokens } from "../../lib/words";
import { Icon } from "../../ui/Icon";
import { Meter } from "../../ui/Meter";
import { agentMark, markOf } from "../../ui/status";
import { Actions } from "./Actions";
import { workQuery, talksQuery, tasksQuery } from "./agentQueries";
import { outcomeWords } from "./runWords";

type Agent = Schema<"AgentView">;

interface Props {
  agent: Agent;
  /** How full its context is, as the stream told it last. */
  context: Schema<"ContextUse"> | null;
}

/** What is known of an agent, and what may be done with it. */
export function Facts({ agent, context }: Props) {
  return (
    <aside aria-label="Facts" className="overflow-auto border-l border-line bg-panel max-desk:border-l-0">
      <Basics agent={agent} />
      <Context agent={agent} context={context} />
      <Runs agent={agent} />
      {(agent.projects ?? []).map((place) => <Changed key={place.projectId} agent={agent} place={place} several={(agent.projects ?? []).length > 1} />)}
      {agent.taskId !== "" && agent.initiativeId !== "" && <Waiting agent={agent} />}
      <Talks agent={agent} />
      <Warnings agent={agent} />
      <Actions agent={agent} />
    </aside>
  );
}

function Part({ title, note, children }: { title?: string; note?: ReactNode; children: ReactNode }) {
  return (
    <section className="border-b border-line px-4 py-3">
      {title !== undefined && (
        <h2 className="mb-1.5 flex items-center text-12 font-mid text-ink-2">
          {title}
          <span className="ml-auto font-body tabular-nums">{note}</span>
        </h2>
      )}
      {children}
    </section>
  );
}

const line = "flex min-h-6 items-center gap-2 text-12 tabular-nums";

function Basics({ agent }: { agent: Agent }) {
  const { client } = useCw();
  const task = useQuery({ ...taskQuery(client, agent.taskId), enabled: agent.taskId !== "" }).data;
  const slug = useQuery({ ...initiativesQuery(client), enabled: agent.initiativeId !== "" }).data?.find((one) => one.id === agent.initiativeId)?.slug;
  const places = agent.projects ?? [];
  const name = oneLine(task?.name ?? agent.title);
  return (
    <Part>
      <dl className="grid grid-cols-[5.25rem_minmax(0,1fr)] gap-x-2 gap-y-0.75 [&_dt]:text-ink-3">
        <dt>Task</dt>
        <dd className="truncate" title={name}>
          {slug !== undefined && agent.taskId !== "" ? <Link to="/initiatives/$slug" params={{ slug }} search={{ task: agent.taskId }} className="underline decoration-line-3 underline-offset-3">{name}</Link> : name}
        </dd>
        <dt>Mode</dt>
        <dd>{agent.mode}</dd>
        <dt>Account</dt>
        <dd className="truncate">{agent.accountName || agent.provider}<span className="text-ink-3">{modelOf(agent)}</span></dd>
        {places.map((place) => <Place key={place.projectId} place={place} several={places.length > 1} />)}
        {(task?.paths ?? []).length > 0 && (
          <>
            <dt>May touch</dt>
            <dd>{task?.paths?.map((path) => <code key={path} className="block truncate text-12">{path}</code>)}</dd>
          </>
        )}
      </dl>
    </Part>
  );
}

function modelOf(agent: Agent): string {
  const model = agent.runs?.at(-1)?.model || agent.model;
  return model === "" ? "" : ` · ${oneLine(model)}`;
}

function Place({ place, several }: { place: Schema<"AgentWorktree">; several: boolean }) {
  return (
    <>
      {several && <><dt>Project</dt><dd className="truncate font-mid">{place.project}</dd></>}
      <dt>Branch</dt>
      <dd className="truncate"><code className="text-12" title={place.branch}>{place.branch}</code></dd>
      <dt>Base</dt>
      <dd className="truncate"><code className="text-12">{place.baseBranch || "detached"}</code> <span className="text-ink-3">at</span> <code className="text-12">{place.baseCommit.slice(0, 7)}</code></dd>
      <dt>Worktree</dt>
      <dd>{place.worktreeState}{place.dirtyFiles > 0 && `, ${count(place.dirtyFiles, "file")} not committed`}</dd>
    </>
  );
}

function Context({ agent, context }: Props) {
  const run = agent.runs?.at(-1);
  const used = context?.tokens ?? run?.contextTokens ?? 0;
  const limit = context?.limit ?? run?.contextLimit ?? 0;
  if (used === 0) return null;
  const percent = Math.min(100, Math.round((100 * used) / Math.max(1, limit)));
  return (
    <Part title="Context" note={limit > 0 ? `${tokens(used)} of ${tokens(limit)}` : tokens(used)}>
      {limit > 0 && <Meter label={`${percent} % of the context is used`} value={percent} tone={percent >= 90 ? "need" : "work"} />}
    </Part>
  );
}

function Runs({ agent }: { agent: Agent }) {
  const now = useNow();
  const runs = (agent.runs ?? []).filter((run) => run.kind === "agent").toReversed();
  const took = (run: Schema<"Run">) => (run.startedAt ? (run.endedAt ? Date.parse(run.endedAt) : now) - Date.parse(run.startedAt) : 0);
  const whole = runs.reduce((sum, run) => sum + took(run), 0);
  return (
    <Part title="Runs" note={`${span(whole)}${agent.costUsd > 0 ? ` · ${dollars(agent.costUsd)}` : ""}`}>
      <ul>
        {runs.slice(0, 12).map((run) => {
          const mark = agentMark({ status: run.outcome ?? "running", plan: run.outcome ? null : agent.plan });
          return (
            <li key={run.id}>
              <Link to="/agents/$name" params={{ name: agent.name }} search={{ run: String(run.sessionNumber) }} className={`${line} rounded-chip hover:bg-hover`} title={`Go to run ${run.sessionNumber}`}>
                <Icon name={mark.icon} small className={mark.tone} />
                <span className="min-w-0 flex-1 truncate">{run.sessionNumber} · {run.reason.replaceAll("_", " ")}{run.outcome && run.outcome !== "idle" && `, ${outcomeWords(run)}`}</span>
                <span className="text-ink-2">{span(took(run))}</span>
                {run.costUsd > 0 && <span>{dollars(run.costUsd)}</span>}
              </Link>
            </li>
          );
        })}
        {runs.length > 12 && <li className={`${line} text-ink-3`}>and {runs.length - 12} before</li>}
      </ul>
    </Part>
  );
}

function Changed({ agent, place, several }: { agent: Agent; place: Schema<"AgentWorktree">; several: boolean }) {
  const { client } = useCw();
  const diff = useQuery(workQuery(client, agent.id, place.project)).data;
  const files = diff?.files ?? [];
  const open = diff?.uncommitted ?? [];
  if (files.length === 0 && open.length === 0) return null;
  const note = <>{count(diff?.stat.filesChanged ?? 0, "file")} <PlusMinus additions={diff?.stat.additions ?? 0} deletions={diff?.stat.deletions ?? 0} /></>;
  return (
    <Part title={several ? `Changed in ${place.project}` : "Changed"} note={note}>
      <ul>
        {files.slice(0, 8).map((file) => (
          <li key={file.path}>
            <Link to="/review/$noun/$ref" params={{ noun: "agent", ref: agent.name }} search={{ file: file.path }} className={`${line} rounded-chip hover:bg-hover`}>
              <Icon name={file.deletions === 0 ? "u-plus" : "u-edit"} small className="text-ink-3" />
              <code className="min-w-0 flex-1 truncate text-12" title={file.path}>{file.path}</code>
              {file.binary ? <span className="text-ink-3">binary</span> : <PlusMinus additions={file.additions} deletions={file.deletions} />}
            </Link>
          </li>
        ))}
        {files.length > 8 && <li className={`${line} text-ink-3`}>and {files.length - 8} more</li>}
        {open.length > 0 && <li className={`${line} text-ink-3`} title={open.slice(0, 20).join("\n")}>{count(open.length, "file")} not committed</li>}
      </ul>
    </Part>
  );
}

function Waiting({ agent }: { agent: Agent }) {
  const { client } = useCw();
  const tasks = useQuery(tasksQuery(client, agent.initiativeId)).data ?? [];
  const waiting = tasks.filter((task) => (task.dependsOn ?? []).includes(agent.taskId) && task.status !== "done");
  if (waiting.length === 0) return null;
  return (
    <Part title="Waits for this task" note={grouped(waiting.length)}>
      <ul>
        {waiting.slice(0, 8).map((task) => {
          const mark = markOf("task", task.status);
          return <li key={task.id} className={line}><Icon name={mark.icon} small className={mark.tone} /><span className="truncate">{oneLine(task.name)}</span></li>;
        })}
      </ul>
    </Part>
  );
}

function Talks({ agent }: { agent: Agent }) {
  const { client } = useCw();
  const talks = useQuery(talksQuery(client, agent.name)).data ?? [];
  if (talks.length === 0) return null;
  return (
    <Part title="Conversations" note={grouped(talks.length)}>
      <ul>
        {talks.slice(0, 6).map((talk) => {
          const mark = markOf("conversation", talk.status);
          const asks = talk.fromAgentId === agent.id;
          return (
            <li key={talk.id}>
              <Link to="/conversations" search={{ id: talk.id }} className={`${line} rounded-chip hover:bg-hover`}>
                <Icon name={mark.icon} small className={mark.tone} label={mark.word} />
                <span className="flex-none">{asks ? `asked ${talk.to ?? "nobody yet"}` : `${talk.from} asks`}</span>
                <span className="min-w-0 truncate text-ink-2">{oneLine(talk.question)}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </Part>
  );
}

function Warnings({ agent }: { agent: Agent }) {
  const all = [...(agent.error === "" ? [] : [agent.error]), ...(agent.warnings ?? [])];
  if (all.length === 0) return null;
  return (
    <Part title="Worth a look" note={grouped(all.length)}>
      <ul className="grid gap-1">
        {all.slice(-6).map((text, i) => (
          <li key={i} className="flex gap-2 text-12"><Icon name="s-stalled" small className="mt-0.5 text-need-mark" /><span className="min-w-0 break-words">{oneLine(text)}</span></li>
        ))}
      </ul>
    </Part>
  );
}
