import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { projectsQuery } from "../../api/settingsQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Field } from "../../ui/Field";
import { SectionHead } from "../../ui/Section";
import { Skeleton } from "../../ui/Skeleton";
import { ProjectRow } from "./ProjectRow";

/** The repositories that cw works on. */
export function ProjectsTab() {
  const projects = useQuery(projectsQuery(useCw().client));
  return (
    <section aria-labelledby="projects">
      <SectionHead id="projects" title="Projects" count={projects.data?.length} />
      {projects.error && <Failure what="The projects cannot be read" error={projects.error} onRetry={() => void projects.refetch()} />}
      {projects.isPending && !projects.error && <Skeleton rows={4} />}
      <ul>{projects.data?.map((one) => <ProjectRow key={one.id} project={one} />)}</ul>
      {projects.data?.length === 0 && <Empty title="No projects yet" command="cw project add .">A git repository becomes a project with its first agent, or when it is added here by its path.</Empty>}
      <AddProject />
    </section>
  );
}

function AddProject() {
  const { client } = useCw();
  const queries = useQueryClient();
  const [where, setWhere] = useState("");
  const text = where.trim();
  const add = useMutation({
    mutationFn: () => client.post("/v1/projects", { body: /^(\/|~)/.test(text) ? { path: text } : { url: text } }),
    onSuccess: (project) => {
      say(`Project ${project.name} is added.`);
      setWhere("");
      void queries.invalidateQueries({ queryKey: ["projects"] });
    },
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <form
      className="grid gap-1 border-t border-line p-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== "") add.mutate();
      }}
    >
      <div className="flex max-w-164 gap-2">
        <Field label="Path or URL of a repository" placeholder="/home/me/shop or https://…/shop.git" className="flex-1" value={where} onText={setWhere} spellCheck={false} />
        <Button type="submit" acting={add.isPending} disabled={text === ""}>Add project</Button>
      </div>
      <p className="text-12 text-ink-3">An absolute path on the machine that runs cw, or the URL of a remote repository, which cw clones. Nothing in the repository is changed.</p>
    </form>
  );
}
