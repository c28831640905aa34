import type { Schema } from "../../../api/client";
import { oneLine } from "../../../lib/words";
import { Icon } from "../../../ui/Icon";
import { Steps } from "../../../ui/Steps";
import type { PlanItem } from "../items";
import { Box } from "./Box";
import { Fold } from "./Fold";
import type { ItemProps } from "./ItemRow";
import { Line } from "./Line";

type Step = Schema<"PlanStep">;

const isOver = (step: Step) => step.status === "completed" || step.status === "skipped";

/** The agent's list of steps. Only the newest one is a box; what it was before is a line. */
export function PlanBox({ item, open, onOpen }: ItemProps<PlanItem>) {
  const done = item.steps.filter(isOver).length;
  const at = item.steps.find((step) => step.status === "in_progress");
  if (!item.latest) {
    const head = (
      <>
        <span className="flex-none">Plan</span>
        <span className="min-w-0 flex-1 truncate text-ink-3">{oneLine(at?.title ?? "")}</span>
        <span className="flex-none text-12 text-ink-3 tabular-nums">{done} of {item.steps.length}</span>
      </>
    );
    return (
      <Line at={item.at} icon="u-plan">
        <Fold open={open} onOpen={(now) => onOpen(item.key, now)} head={head}>{() => <StepList steps={item.steps} />}</Fold>
      </Line>
    );
  }
  const head = (
    <>
      <b className="font-mid text-ink">Plan</b>
      <span className="ml-auto" />
      <Steps done={done} of={item.steps.length} />
      <span className="tabular-nums">{done} of {item.steps.length}</span>
    </>
  );
  return (
    <Line at={item.until} icon="u-plan" look="box">
      <Box head={head}>{open ? <div className="px-3 py-2"><StepList steps={item.steps} /></div> : null}</Box>
    </Line>
  );
}

/** Steps in order; of many that are done, how many. */
function StepList({ steps }: { steps: Step[] }) {
  const over = steps.findIndex((step) => !isOver(step));
  const hidden = Math.max(0, (over < 0 ? steps.length : over) - 2);
  const fold = hidden > 1 ? hidden : 0;
  return (
    <ol className="grid grid-cols-[minmax(0,1fr)]">
      {fold > 0 && <li className="flex min-h-6 items-center gap-2 text-ink-3"><Icon name="s-idle" small className="text-done" />{fold} steps done</li>}
      {steps.slice(fold).map((step) => (
        <li key={step.id} aria-current={step.status === "in_progress" ? "step" : undefined} className={`flex min-h-6 items-center gap-2 ${isOver(step) ? "text-ink-3" : ""} ${step.status === "in_progress" ? "font-mid" : ""}`}>
          <StepIcon status={step.status} />
          <span className="min-w-0 break-words">{oneLine(step.title)}</span>
          {step.status === "skipped" && <span className="text-12">skipped</span>}
        </li>
      ))}
    </ol>
  );
}

function StepIcon({ status }: { status: string }) {
  if (status === "completed") return <Icon name="s-idle" small className="text-done" label="done" />;
  if (status === "skipped") return <Icon name="s-cancelled" small className="text-ink-3" label="skipped" />;
  if (status === "in_progress") return <Icon name="s-run4" small className="text-work" label="at work" />;
  return <Icon name="s-ready" small className="text-ink-3" label="to do" />;
}
