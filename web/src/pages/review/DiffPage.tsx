import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { initiativeQuery, taskQuery } from "../../api/initiativeQueries";
import { agentQuery, agentsQuery } from "../../api/queries";
import { Main, TopBar } from "../../app/TopBar";
import { useCw } from "../../app/cw";
import { DiffView } from "../../diff/DiffView";
import { Comments } from "../../diff/comments";
import { isNoun, statQuery, type Noun } from "../../diff/diffQueries";
import { useSplit } from "../../diff/useSplit";
import { inert } from "../../lib/words";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Seg } from "../../ui/Seg";
import { Skeleton } from "../../ui/Skeleton";
import { Tag } from "../../ui/Tag";
import { InitiativeGate } from "./InitiativeGate";
import { SendComments } from "./SendComments";
import { TaskGate } from "./TaskGate";
import { sizeText } from "./gate";

const route = getRouteApi("/review/$noun/$ref");

/** What an agent, a task or an initiative changes: read it, remark on it, let it go on. */
export function DiffPage() {
  const { noun, ref } = route.useParams();
  if (!isNoun(noun)) {
    return (
      <>
        <TopBar><h1 className="text-14 font-bold">Review</h1></TopBar>
        <Main><Empty title="There is nothing of this kind to review">Agents, tasks and initiatives have differences.</Empty></Main>
      </>
    );
  }
  return <Reviewed key={`${noun} ${ref}`} noun={noun} ref_={ref} />;
}

function Reviewed({ noun, ref_ }: { noun: Noun; ref_: string }) {
  const { client } = useCw();
  const { file } = route.useSearch();
  const [project, setProject] = useState("");
  const [split, setSplit] = useSplit();
  const named = useNamed(noun, ref_);
  const diff = useQuery(statQuery(client, { noun, ref: ref_, project }));
  const comments = useMemo(() => new Comments(localStorage, `cw.comments.${noun}.${ref_}`), [noun, ref_]);
  return (
    <>
      <TopBar>
        <span className="flex min-w-0 items-center gap-1.5 text-ink-2">
          <Link to="/review" className="hover:text-ink">Review</Link>
          <span className="text-line-3">/</span>
          <h1 className="truncate text-14 font-bold text-ink">{inert(named.title)}</h1>
        </span>
        {named.agents.length === 1 && named.agents[0] !== undefined && <Link to="/agents/$name" params={{ name: named.agents[0] }}><Tag>{named.agents[0]}</Tag></Link>}
        <span className="ml-auto" />
        {named.projects.length > 1 && (
          <Seg label="Project" value={project === "" ? (named.projects[0] ?? "") : project} choices={named.projects.map((one) => ({ value: one, text: one }))} onChoose={setProject} />
        )}
        <span className="max-tab:hidden">
          <Seg label="How to read it" value={split ? "split" : "unified"} choices={[{ value: "split", text: "Split" }, { value: "unified", text: "Unified" }]} onChoose={(way) => setSplit(way === "split")} />
        </span>
      </TopBar>
      <Main className="grid grid-rows-[auto_minmax(0,1fr)]">
        <section aria-label="Merge" className="flex items-start gap-6 border-b border-line px-4 py-3 max-tab:flex-col">
          <div className="min-w-0 flex-1">
            {noun === "task" && <TaskGate id={ref_} />}
            {noun === "initiative" && <InitiativeGate slug={ref_} />}
            {noun === "agent" && <p className="text-ink-2">{named.task ? <>This work belongs to a task: <Link to="/review/$noun/$ref" params={{ noun: "task", ref: named.task }} className="underline">its review</Link> says what becomes of it.</> : "This work belongs to no task, so cw merges it nowhere. It is safe on its branch."}</p>}
            {diff.data && <p className="mt-1 text-12 text-ink-3 tabular-nums">{sizeText(diff.data)} <code>{inert(diff.data.branch)}</code></p>}
          </div>
          {diff.data && <SendComments comments={comments} head={diff.data.headCommit} agents={named.agents} />}
        </section>
        {diff.isPending && <Skeleton rows={12} />}
        {diff.error && <Failure what="The difference could not be read" error={diff.error} onRetry={() => void diff.refetch()} />}
        {diff.data && (diff.data.files ?? []).length === 0 && <Empty title="Nothing changed">{(diff.data.uncommitted ?? []).length > 0 ? "There are changes that are not committed yet." : "There are no commits since it began."}</Empty>}
        {diff.data && (diff.data.files ?? []).length > 0 && <DiffView noun={noun} ref_={ref_} diff={diff.data} split={split} comments={comments} to={named.agents.length === 1 ? named.agents[0] : ""} file={file} />}
      </Main>
    </>
  );
}

/** The name of what is reviewed, its projects, and the agents that may be told something about it. */
function useNamed(noun: Noun, ref: string): { title: string; agents: string[]; projects: string[]; task: string } {
  const { client } = useCw();
  const agent = useQuery({ ...agentQuery(client, ref), enabled: noun === "agent" }).data;
  const task = useQuery({ ...taskQuery(client, ref), enabled: noun === "task" }).data;
  const initiative = useQuery({ ...initiativeQuery(client, ref), enabled: noun === "initiative" }).data;
  const all = useQuery({ ...agentsQuery(client), enabled: noun !== "agent" }).data ?? [];
  switch (noun) {
    case "agent":
      return { title: ref, agents: [ref], projects: (agent?.projects ?? []).map((one) => one.project), task: agent?.taskId ?? "" };
    case "task": {
      const own = all.find((one) => one.id === task?.agentId);
      return { title: task?.name ?? "", agents: own ? [own.name] : [], projects: (own?.projects ?? []).map((one) => one.project), task: ref };
    }
    case "initiative":
      return {
        title: initiative?.name ?? ref,
        agents: all.filter((one) => one.initiativeId === initiative?.id && one.taskId !== undefined && one.taskId !== "").map((one) => one.name),
        projects: (initiative?.projects ?? []).map((one) => one.name),
        task: "",
      };
  }
}
