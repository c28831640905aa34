import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { projectFileQuery, type Project } from "../../api/settingsQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { inert, oneLine } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Tag } from "../../ui/Tag";
import { ProjectFile } from "./ProjectFile";
import { trustOf } from "./trust";

/** A project, its policies, and whether what its cw.yaml runs is trusted. */
export function ProjectRow({ project }: { project: Project }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const file = useQuery(projectFileQuery(client, project.id));
  const [looking, setLooking] = useState(false);
  const [removing, setRemoving] = useState(false);
  const change = useMutation({
    mutationFn: (autoResume: boolean) => client.post("/v1/projects/{ref}/settings", { path: { ref: project.id }, body: { autoResume } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["projects", "all"] }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const trust = file.data && trustOf(file.data);
  return (
    <li className="grid gap-1 border-t border-line px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-mid">{oneLine(project.name)}</span>
        <code className="min-w-0 flex-1 truncate text-ink-2" title={inert(project.path || project.remoteUrl || "")}>{oneLine(project.path || project.remoteUrl || "")}</code>
        {trust && <Tag><span className={trust.tone}>{trust.word}</span></Tag>}
        <Button onClick={() => setLooking(!looking)} aria-expanded={looking}>cw.yaml</Button>
        <Button look="quiet" icon="u-x" aria-label={`Remove project ${project.name}`} onClick={() => setRemoving(true)} />
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-ink-2">
        <label className="inline-flex items-center gap-1.5">
          <input type="checkbox" checked={project.autoResume} disabled={change.isPending} onChange={(event) => change.mutate(event.currentTarget.checked)} />
          agents go on by themselves after a restart
        </label>
        <span>silent agents: {project.stall === "resume" ? "ended and resumed" : "told, not touched"}</span>
        <span>{project.agentSpawn === 0 ? "agents make no agents" : `agents may make agents, ${project.agentSpawn} deep`}</span>
        <span>{project.fallback?.length ? `at a limit goes on with ${project.fallback.join(", ")}` : "no other provider at a limit"}</span>
      </div>
      {looking && file.error && <Failure what="Its cw.yaml cannot be read" error={file.error} onRetry={() => void file.refetch()} />}
      {looking && file.data && <ProjectFile project={project} file={file.data} />}
      {removing && <RemoveProject project={project} onClose={() => setRemoving(false)} />}
    </li>
  );
}

function RemoveProject({ project, onClose }: { project: Project; onClose: () => void }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => client.delete("/v1/projects/{ref}", { path: { ref: project.id } }),
    onSuccess: () => {
      say(`Project ${project.name} is forgotten. Its repository is as it was.`);
      void queries.invalidateQueries({ queryKey: ["projects"] });
      onClose();
    },
  });
  return (
    <Dialog title={`Remove project ${project.name}`} onClose={onClose}>
      <p>cw forgets the project and its own copy of it. The repository itself is not touched. It is refused while agents use it.</p>
      {remove.error && <Failure what="It was not removed" error={remove.error} />}
      <div className="flex gap-2">
        <Button look="danger" acting={remove.isPending} onClick={() => remove.mutate()}>Remove</Button>
        <Button look="quiet" onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
