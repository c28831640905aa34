import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Schema } from "../../api/client";
import { useCw } from "../../app/cw";
import { DiffView } from "../../diff/DiffView";
import { count } from "../../lib/words";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Seg } from "../../ui/Seg";
import { Skeleton } from "../../ui/Skeleton";
import { workQuery } from "./agentQueries";

/** What the agent changed, project by project. */
export function WorkView({ agent }: { agent: Schema<"AgentView"> }) {
  const { client } = useCw();
  const projects = (agent.projects ?? []).map((one) => one.project);
  const [project, setProject] = useState(projects[0] ?? "");
  const diff = useQuery({ ...workQuery(client, agent.id, project), enabled: project !== "" });
  if (project === "") return <Empty title="It works in no project">There is no branch to compare.</Empty>;
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div className="flex flex-wrap items-center gap-3 px-4 py-2 text-12 text-ink-2">
        {projects.length > 1 && <Seg label="Project" value={project} choices={projects.map((one) => ({ value: one, text: one }))} onChoose={setProject} />}
        <span>What is committed on <code>{agent.projects?.find((one) => one.project === project)?.branch}</code>{(diff.data?.uncommitted ?? []).length > 0 && `, without ${count(diff.data?.uncommitted?.length ?? 0, "file")} not committed`}</span>
        <Link to="/review/$noun/$ref" params={{ noun: "agent", ref: agent.name }} className="ml-auto underline decoration-line-3 underline-offset-3">Review with remarks</Link>
      </div>
      {diff.isPending && <Skeleton rows={10} />}
      {diff.error && <Failure what="The difference could not be read" error={diff.error} onRetry={() => void diff.refetch()} />}
      {diff.data && ((diff.data.files ?? []).length === 0 ? <Empty title="Nothing is committed yet">What it commits on its branch is shown here.</Empty> : <DiffView key={project} noun="agent" ref_={agent.name} diff={diff.data} split={false} />)}
    </div>
  );
}
