import { useQuery } from "@tanstack/react-query";
import { useCw } from "../../../app/cw";
import type { Schema } from "../../../api/client";
import { Failure } from "../../../ui/Failure";
import { Skeleton } from "../../../ui/Skeleton";
import { Tag } from "../../../ui/Tag";
import { inert } from "../../../lib/words";
import { Who, type DetailProps } from "../inbox/parts";
import { QuestionsForm } from "../inbox/QuestionsForm";
import type { Asked } from "../inbox/drafts";
import { useAct } from "./useAct";
import { VerdictForm } from "./VerdictForm";

// An alias, as the body of a request has more fields in later daemons.
type Verdict = Pick<Schema<"TaskVerdict">, "accept" | "comment" | "answers">;

/** A task at which a person decides, acts, or looks at the result. */
export function CheckpointDetail({ item, onDone, onNext }: DetailProps) {
  const { client } = useCw();
  const taskId = item.taskId ?? "";
  const read = useQuery({ queryKey: ["tasks", "one", taskId], queryFn: ({ signal }) => client.get("/v1/tasks/{task}", { path: { task: taskId }, signal }) });
  const say = useAct<Verdict>({
    act: (to, verdict) => to.post("/v1/tasks/{task}/verdict", { path: { task: taskId }, body: verdict }),
    done: (verdict) => (verdict.accept ? `Done: ${item.task}` : `Sent back: ${item.task}`),
    onDone,
  });
  if (read.error) return <Failure what="The task cannot be read" error={read.error} onRetry={() => void read.refetch()} />;
  const task = read.data;
  if (!task) return <Skeleton rows={4} />;
  const questions = (task.questions ?? []).map((one, i): Asked & { id: string } => ({ ...one, id: one.id || `q${i + 1}` }));
  if (task.type === "checkpoint:decision" && questions.length > 0) {
    // The ids of a decision are short words: with the task before them drafts do not meet.
    const own = questions.map((one) => ({ ...one, id: `${task.id}:${one.id}` }));
    return (
      <QuestionsForm
        questions={own}
        who={(question, place) => (
          <Who item={item}>
            {question.header && <Tag>{inert(question.header)}</Tag>}
            {place !== "" && <span className="flex-none tabular-nums">{place}</span>}
          </Who>
        )}
        acting={say.isPending}
        note="What depends on it reads your answer"
        onSend={(answers) => say.mutate({ accept: true, answers: Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id.slice(task.id.length + 1), answer])) })}
        onNext={onNext}
      />
    );
  }
  return <VerdictForm item={item} task={task} acting={say.isPending} onVerdict={(accept, comment) => say.mutate(comment === "" ? { accept } : { accept, comment })} />;
}
