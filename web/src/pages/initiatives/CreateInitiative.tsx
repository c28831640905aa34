import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { projectsQuery } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { TextArea, TextField } from "../../ui/FormField";

/** Makes an initiative: its name, its goal, its repositories. */
export function CreateInitiative({ onClose, onDone }: { onClose: () => void; onDone: (slug: string) => void }) {
  const { client } = useCw();
  const known = useQuery(projectsQuery(client));
  const [name, setName] = useState("");
  const [goal, setGoal] = useState("");
  const [projects, setProjects] = useState<string[]>([]);
  const create = useMutation({
    mutationFn: () => client.post("/v1/initiatives", { body: { name: name.trim(), goal: goal.trim() || undefined, projects } }),
  });
  // The dialog stands until the new page does: what is pressed meanwhile would make a second one.
  const made = useRef(false);
  const submit = () => {
    if (made.current) return;
    made.current = true;
    create.mutate(undefined, { onSuccess: ({ slug }) => onDone(slug), onError: () => void (made.current = false) });
  };
  return (
    <Dialog title="New initiative" onClose={onClose}>
      <form className="grid gap-3" onSubmit={(event) => { event.preventDefault(); submit(); }}>
        <TextField label="Name" required maxLength={200} value={name} onText={setName} autoFocus help="Its branch is named after it, and keeps that name." />
        <TextArea label="Goal" rows={5} value={goal} onText={setGoal} help="What is to be reached, in Markdown. It becomes the first page." />
        <fieldset className="grid gap-1">
          <legend className="mb-1 text-12 font-mid">Repositories</legend>
          {known.data?.map((project) => (
            <label key={project.id} className="flex min-h-6 items-center gap-2">
              <input type="checkbox" checked={projects.includes(project.id)} onChange={() => setProjects(projects.includes(project.id) ? projects.filter((id) => id !== project.id) : [...projects, project.id])} />
              <span className="font-mid">{project.name}</span>
              <span className="truncate text-12 text-ink-3">{project.remoteUrl ?? project.path}</span>
            </label>
          ))}
          {known.data?.length === 0 && (
            <>
              <p className="text-12 text-ink-2">None is registered. In the repository:</p>
              <Command text="cw project add ." />
            </>
          )}
        </fieldset>
        {create.error && <Failure what="The initiative was not made" error={create.error} />}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" look="primary" acting={create.isPending || create.isSuccess} disabled={name.trim() === ""}>Make it</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
          <span className="text-12 text-ink-3">No agent is started yet.</span>
        </div>
      </form>
    </Dialog>
  );
}
