import type { Task } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { inert } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { CheckpointForm, forgetAnswers, type Verdict } from "../../questions/CheckpointForm";

const titles: Record<string, string> = { "checkpoint:verify": "Look at the result", "checkpoint:decision": "Decide", "checkpoint:action": "Do it, then confirm" };

/** What a person says of the task that is shown: answers, a note, yes or no. */
export function Checkpoint({ task }: { task: Task }) {
  const { client, queries } = useCw();
  const decide = useMutation({
    mutationFn: (body: Verdict) => client.post("/v1/tasks/{task}/verdict", { path: { task: task.id }, body }),
    onSuccess: () => forgetAnswers(task),
    onError: (error) => sayFailed(wordsOf(error)),
    onSettled: () => Promise.all(["initiatives", "tasks", "dispatch", "inbox"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  const title = titles[task.type] ?? "Confirm";
  return (
    <section aria-label={title} className="overflow-hidden rounded-box border border-need/45">
      <h3 className="border-b border-line bg-need-bg px-3 py-1.5 font-mid">{title}</h3>
      <div className="px-3 py-2">
        <CheckpointForm
          task={task}
          head={(asked, place) => (place + (asked.header ?? "") === "" ? null : <p className="text-12 text-ink-3 tabular-nums">{[inert(asked.header ?? ""), place].filter(Boolean).join(" · ")}</p>)}
          acting={decide.isPending ? decide.variables : null}
          onVerdict={decide.mutate}
        />
      </div>
    </section>
  );
}
