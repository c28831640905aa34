import { useState } from "react";
import type { Schema } from "../../api/client";
import type { InitiativeView, Task } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Choice, linesIn, TextArea, TextField } from "../../ui/FormField";

type Fields = Pick<Task, "name" | "phaseId" | "type" | "size" | "priority" | "dependsOn"> & { body: string; paths: string; checks: string };

const types = [
  { value: "auto", text: "An agent" },
  { value: "checkpoint:verify", text: "An agent; a person looks at the result" },
  { value: "checkpoint:decision", text: "A person decides" },
  { value: "checkpoint:action", text: "A person does it" },
];
const sizes = ["small", "medium", "large"].map((value) => ({ value, text: value }));
const priorities = ["high", "medium", "low"].map((value) => ({ value, text: value }));

/** Makes a task, or changes one. */
export function TaskDialog({ view, task, onClose }: { view: InitiativeView; task?: Task; onClose: () => void }) {
  const { client, queries } = useCw();
  const [fields, setFields] = useState<Fields>(() => fieldsOf(task, view.phases.find((phase) => phase.status !== "done")?.id ?? view.phases[0]?.id ?? ""));
  const set = <K extends keyof Fields>(key: K) => (value: Fields[K]) => setFields((before) => ({ ...before, [key]: value }));
  const save = useMutation({
    mutationFn: (): Promise<Schema<"Task">> => {
      const body = { ...fields, paths: linesIn(fields.paths), checks: linesIn(fields.checks) };
      return task ? client.post("/v1/tasks/{task}", { path: { task: task.id }, body }) : client.post("/v1/tasks", { body });
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["tasks"] });
      onClose();
    },
  });
  return (
    <Dialog title={task ? "Edit task" : "New task"} onClose={onClose} wide>
      <form className="grid gap-3" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
        <TextField label="Name" required maxLength={200} value={fields.name} onText={set("name")} autoFocus />
        <TextArea label="What is to be done" rows={6} value={fields.body} onText={set("body")} help="Markdown. It becomes the task of the agent's prompt." />
        <div className="grid grid-cols-2 gap-3 max-tab:grid-cols-1">
          <Choice label="Phase" value={fields.phaseId} options={view.phases.map((phase) => ({ value: phase.id, text: phase.name }))} onChoose={set("phaseId")} />
          <Choice label="Who" value={fields.type} options={types} onChoose={(value) => set("type")(value as Fields["type"])} />
          <Choice label="Size" value={fields.size} options={sizes} onChoose={(value) => set("size")(value as Fields["size"])} />
          <Choice label="Priority" value={fields.priority} options={priorities} onChoose={(value) => set("priority")(value as Fields["priority"])} />
        </div>
        <TextArea label="May touch" rows={2} mono value={fields.paths} onText={set("paths")} help="One glob a line. Tasks that touch the same paths do not run at once." />
        <TextArea label="Done when" rows={2} value={fields.checks} onText={set("checks")} help="One a line." />
        <After tasks={view.tasks.filter((one) => one.id !== task?.id)} chosen={fields.dependsOn} onChoose={set("dependsOn")} />
        {save.error && <Failure what="The task was not saved" error={save.error} />}
        <div className="flex items-center gap-2">
          <Button type="submit" look="primary" acting={save.isPending} disabled={fields.name.trim() === "" || fields.phaseId === ""}>{task ? "Save" : "Make the task"}</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
          {!task && <span className="text-12 text-ink-3">It is started when its phase is approved and nothing comes before it.</span>}
        </div>
      </form>
    </Dialog>
  );
}

function fieldsOf(task: Task | undefined, phaseId: string): Fields {
  if (!task) return { name: "", body: "", phaseId, type: "auto", size: "medium", priority: "medium", dependsOn: [], paths: "", checks: "" };
  const { name, type, size, priority, dependsOn } = task;
  return { name, type, size, priority, dependsOn, phaseId: task.phaseId, body: task.body ?? "", paths: task.paths.join("\n"), checks: task.checks.join("\n") };
}

function After({ tasks, chosen, onChoose }: { tasks: Task[]; chosen: string[]; onChoose: (ids: string[]) => void }) {
  if (tasks.length === 0) return null;
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 text-12 font-mid">Comes after</legend>
      <div className="max-h-40 overflow-auto rounded-box border border-line-2 bg-sunken px-2 py-1">
        {tasks.map((task) => (
          <label key={task.id} className="flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              checked={chosen.includes(task.id)}
              onChange={() => onChoose(chosen.includes(task.id) ? chosen.filter((id) => id !== task.id) : [...chosen, task.id])}
            />
            <span className="truncate">{task.name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
