import { Link } from "@tanstack/react-router";
import type { Task } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";

type Status = "pending" | "done" | "cancelled";

interface Act {
  text: string;
  /** What will happen. */
  says: string;
  status: Status | "retry";
  primary?: boolean;
}

/** What a person may do with a task as it stands, and what will happen then. */
function actsOf(task: Pick<Task, "status" | "type">): Act[] {
  const cancel: Act = { text: "Cancel", says: "Its work stays on its branch and is not merged.", status: "cancelled" };
  switch (task.status) {
    case "draft":
      return [{ text: "Ready", says: "It is started when its phase is approved and nothing comes before it.", status: "pending", primary: true }, cancel];
    case "blocked":
      return [{ text: "Retry", says: "It gets all its tries back and starts again.", status: "retry", primary: true }, { text: "Done", says: "It counts as done as it is.", status: "done" }, cancel];
    case "pending":
    case "ready":
    case "running":
    case "verifying":
      return [cancel];
    case "done":
    case "cancelled":
      return [{ text: "Take up again", says: "It is done once more.", status: "pending" }];
  }
  return [];
}

interface Props {
  task: Task;
  /** Missing until its text was read: what is not known must not be written over. */
  onEdit: (() => void) | undefined;
}

/** The buttons of a task. */
export function TaskActions({ task, onEdit }: Props) {
  const { client } = useCw();
  const path = { task: task.id };
  const act = useMutation({
    mutationFn: (to: Act["status"]) => (to === "retry" ? client.post("/v1/tasks/{task}/retry", { path }) : client.post("/v1/tasks/{task}", { path, body: { status: to } })),
    onSuccess: (_, to) => {
      if (to === "cancelled") say(`${task.name} is cancelled`, () => act.mutate("pending"));
    },
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const acts = actsOf(task);
  const worked = task.agentId !== undefined;
  return (
    <div className="grid gap-1">
      <div className="flex flex-wrap items-center gap-2">
        {acts.map((one) => (
          <Button key={one.text} look={one.primary ? "primary" : "plain"} title={one.says} acting={act.isPending && act.variables === one.status} disabled={act.isPending} onClick={() => act.mutate(one.status)}>
            {one.text}
          </Button>
        ))}
        <Button icon="u-edit" disabled={!onEdit} onClick={onEdit}>Edit</Button>
        {worked && (
          <Link to="/review/$noun/$ref" params={{ noun: "task", ref: task.id }} className="inline-flex h-(--control) items-center rounded-box border border-line-2 px-2.5 font-mid hover:bg-hover">
            Changes
          </Link>
        )}
      </div>
      {acts.some((one) => one.primary) && <p className="text-12 text-ink-3">{acts.find((one) => one.primary)?.says}</p>}
    </div>
  );
}
