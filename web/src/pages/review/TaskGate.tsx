import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { initiativeQuery, taskQuery } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { say, sayFailed } from "../../app/notices";
import { inert } from "../../lib/words";
import { useMutation, useOneAtATime } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Status } from "../../ui/Status";
import { markOf } from "../../ui/status";
import { mergesQuery } from "./reviewQueries";
import { taskGate } from "./gate";

/** The gate of a task: where its work is on the way to the branch, and what a person may do. */
export function TaskGate({ id }: { id: string }) {
  const { client } = useCw();
  const task = useQuery(taskQuery(client, id)).data;
  const initiative = useQuery({ ...initiativeQuery(client, task?.initiativeId ?? ""), enabled: task !== undefined }).data;
  const merges = useQuery({ ...mergesQuery(client, task?.initiativeId ?? ""), enabled: task !== undefined }).data;
  const [comment, setComment] = useState("");
  const verdict = useMutation({
    mutationFn: (accept: boolean) => client.post("/v1/tasks/{task}/verdict", { path: { task: id }, body: { accept, comment } }),
    onSuccess: (_, accept) => {
      setComment("");
      say(accept ? "Accepted: it is merged when its checks are green" : "Sent back with your comment");
    },
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const retry = useMutation({
    mutationFn: () => client.post("/v1/tasks/{task}/retry", { path: { task: id } }),
    onSuccess: () => say("It is tried again"),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const decide = useOneAtATime(verdict);
  const merge = merges?.findLast((one) => one.taskId === id);
  const gate = task && taskGate(task, merge, initiative?.branch ?? "the branch");
  const can = (act: "accept" | "reject" | "retry") => gate?.acts.includes(act) === true;
  useKeys("Gate", can("accept") ? [{ key: "shift+m", does: "merge when green", hint: true, run: () => decide(true) }] : []);
  if (!task || !gate) return null;
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-4 text-12">
        <Status mark={markOf("task", task.status)} />
        {merge && <Status mark={markOf("merge", merge.status)} />}
      </div>
      <p className="max-w-[110ch] text-ink-2">{inert(gate.text)}</p>
      {merge?.evidence && merge.status !== "merged" && (
        <details>
          <summary className="text-12 text-ink-2 underline">What was found last</summary>
          <pre className="mt-1 max-h-60 overflow-auto rounded-box border border-line bg-sunken px-3 py-2 text-12">{inert(merge.evidence)}</pre>
        </details>
      )}
      {gate.acts.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          {can("reject") && (
            <>
              <input aria-label="Comment for whoever works on it next" placeholder="What is to be done better" value={comment} onInput={(event) => setComment(event.currentTarget.value)} className="h-(--control) min-w-0 flex-1 rounded-box border border-line-2 bg-sunken px-2 max-tab:basis-full" />
              <Button disabled={comment.trim() === ""} acting={verdict.isPending && !verdict.variables} onClick={() => decide(false)}>Send back</Button>
            </>
          )}
          {can("accept") && <Button look="primary" icon="s-merging" keys="shift+m" acting={verdict.isPending && verdict.variables} onClick={() => decide(true)}>Merge when green</Button>}
          {can("retry") && <Button look="primary" acting={retry.isPending} onClick={() => retry.mutate()}>Try again</Button>}
        </div>
      )}
    </div>
  );
}
