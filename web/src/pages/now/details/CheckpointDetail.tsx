import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { taskQuery, type Task } from "../../../api/initiativeQueries";
import { useCw } from "../../../app/cw";
import { inert } from "../../../lib/words";
import { CheckpointForm, forgetAnswers, type Verdict } from "../../../questions/CheckpointForm";
import { Title } from "../../../ui/Acts";
import { Failure } from "../../../ui/Failure";
import { Icon } from "../../../ui/Icon";
import { Skeleton } from "../../../ui/Skeleton";
import { Tag } from "../../../ui/Tag";
import type { Item } from "../inbox/items";
import { Who, type DetailProps } from "../inbox/parts";
import { useAct } from "./useAct";
import { Where } from "./Where";

/** A task at which a person decides, acts, or looks at the result. */
export function CheckpointDetail({ item, onDone, onNext }: DetailProps) {
  const { client } = useCw();
  const read = useQuery(taskQuery(client, item.taskId ?? ""));
  const task = read.data;
  const say = useAct<Verdict>({
    act: (to, verdict) => to.post("/v1/tasks/{task}/verdict", { path: { task: item.taskId ?? "" }, body: verdict }),
    done: (verdict) => (verdict.accept ? `Done: ${item.task}` : `Sent back: ${item.task}`),
    onDone: () => {
      if (task) forgetAnswers(task);
      onDone();
    },
  });
  if (read.error && !task) return <Failure what="The task cannot be read" error={read.error} onRetry={() => void read.refetch()} />;
  if (!task) return <Skeleton rows={4} />;
  return (
    <CheckpointForm
      task={task}
      head={(asked, place) => (
        <Who item={item}>
          {asked.header && <Tag>{inert(asked.header)}</Tag>}
          {place !== "" && <span className="flex-none tabular-nums">{place}</span>}
        </Who>
      )}
      acting={say.isPending ? say.variables : null}
      onVerdict={say.mutate}
      onNext={onNext}
    >
      <Result item={item} task={task} />
    </CheckpointForm>
  );
}

/** What is to be done or looked at. */
function Result({ item, task }: { item: Item; task: Task }) {
  return (
    <>
      <Who item={item} />
      <Title>{inert(task.name)}</Title>
      {task.body && <p className="line-clamp-4 max-w-[64ch] whitespace-pre-line text-ink-2">{inert(task.body)}</p>}
      {task.summary && <p className="line-clamp-3 max-w-[64ch] text-ink-2">{inert(task.summary)}</p>}
      {(task.checks ?? []).length > 0 && (
        <ul className="text-12 text-ink-2">
          {task.checks?.map((check) => (
            <li key={check} className="flex min-h-6 items-center gap-2"><Icon name="u-ok" small className="text-ink-3" />{inert(check)}</li>
          ))}
        </ul>
      )}
      {task.type === "checkpoint:verify" && (
        <>
          <Where item={item} />
          <Link to="/review/$noun/$ref" params={{ noun: "task", ref: task.id }} className="text-12 underline decoration-line-3 underline-offset-2">Read the diff</Link>
        </>
      )}
    </>
  );
}
