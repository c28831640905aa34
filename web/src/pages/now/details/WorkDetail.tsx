import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCw } from "../../../app/cw";
import { taskQuery } from "../../../api/initiativeQueries";
import { dispatchQuery } from "../../../api/queries";
import { count, inert } from "../../../lib/words";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Form } from "../../../ui/Form";
import { TextArea } from "../../../ui/TextArea";
import { Output, Who, type DetailProps } from "../inbox/parts";
import { useAct } from "./useAct";

/** Work that cannot be merged, or a task that cannot go on: what was found, and who goes on with it. */
export function WorkDetail({ item, onDone }: DetailProps) {
  const { client } = useCw();
  const [note, setNote] = useState("");
  const taskId = item.taskId ?? "";
  const task = useQuery({ ...taskQuery(client, taskId), enabled: taskId !== "" }).data;
  const merge = useQuery(dispatchQuery(client)).data?.merges?.find((one) => one.id === item.mergeId);
  const evidence = merge?.evidence ?? task?.blocked ?? "";
  const back = useAct({
    act: (to) => to.post("/v1/agents/{id}/resume", { path: { id: item.agentId ?? "" }, body: { text: textFor(note, item.text, evidence) } }),
    done: () => `${item.agent} goes on with it`,
    onDone,
  });
  const retry = useAct({ act: (to) => to.post("/v1/tasks/{task}/retry", { path: { task: taskId } }), done: () => `Started anew: ${item.task}`, onDone });
  const hasAgent = item.agentId !== undefined;
  return (
    <Form onSubmit={() => (hasAgent ? back : retry).mutate()}>
      <Who item={item} />
      <Title>{inert(item.text)}</Title>
      {evidence !== "" && <Output text={inert(evidence)} />}
      {merge && (
        <p className="text-ink-2">
          The branch of the initiative did not move.
          {merge.reds > 0 && ` Checks failed ${count(merge.reds, "time")}.`}
          {merge.conflicts > 0 && ` It conflicted ${count(merge.conflicts, "time")}.`}
        </p>
      )}
      {hasAgent && <TextArea label="Note" placeholder="A note for the agent, beside what was found" rows={1} value={note} onText={setNote} data-own className="field-sizing-content max-h-32 resize-none" />}
      <Acts note={hasAgent ? "It goes on in its own worktree, with what was found" : "A new agent begins, with all tries"}>
        {hasAgent && <Button type="submit" look="primary" keys="Enter" acting={back.isPending} disabled={retry.isPending}>Send back</Button>}
        <Button type={hasAgent ? "button" : "submit"} look={hasAgent ? "plain" : "primary"} acting={retry.isPending} disabled={back.isPending} onClick={hasAgent ? () => retry.mutate() : undefined}>
          Start the task anew
        </Button>
        {hasAgent && (
          <Link to="/review/$noun/$ref" params={{ noun: "task", ref: taskId }} className="inline-flex h-(--control) items-center rounded-box px-2.5 font-mid text-ink-2 hover:bg-hover hover:text-ink">
            Open review
          </Link>
        )}
      </Acts>
    </Form>
  );
}

/** What the agent is told: the note first, then what was found. */
function textFor(note: string, text: string, evidence: string): string {
  return [note.trim(), text, evidence].filter((one) => one !== "").join("\n\n");
}
