import { memo } from "react";
import { useNow } from "../../../lib/clock";
import { minutes } from "../../../lib/minutes";
import { Steps } from "../../../ui/Steps";
import { asksNow, changesOf, isStalled, runTime, type Agent } from "./rows";

const tones: Record<string, string> = { waiting_for_input: "fill-need-mark", parked: "fill-held", crashed: "fill-fail" };

/** How far an agent's own plan is. */
export const PlanFact = memo(function PlanFact({ agent }: { agent: Agent }) {
  if (!agent.plan || agent.plan.of === 0) return null;
  const { done, of, current } = agent.plan;
  const tone = asksNow(agent) || isStalled(agent) ? "fill-need-mark" : tones[agent.status];
  return (
    <span className="flex items-center gap-2 text-12 text-ink-2 tabular-nums" title={current}>
      <Steps done={done} of={of} tone={tone ?? "fill-work"} />
      <span>
        {done}/{of}
        <span className="sr-only"> plan steps</span>
      </span>
    </span>
  );
});

/** How long its runs took. It counts on only while one is under way. */
export function TimeFact({ agent }: { agent: Agent }) {
  const under = (agent.runs ?? []).some((run) => run.startedAt && !run.endedAt);
  return under ? <Counting agent={agent} /> : <>{minutes(runTime(agent, 0))}</>;
}

function Counting({ agent }: { agent: Agent }) {
  return <>{minutes(runTime(agent, useNow()))}</>;
}

/** Lines that came and went, and how many files. */
export const ChangesFact = memo(function ChangesFact({ agent }: { agent: Agent }) {
  const sum = changesOf(agent);
  if (!sum) return null;
  return (
    <span className="grid grid-cols-[2.5rem_2.5rem_1.25rem] gap-1 text-right" title={`${sum.added} lines added, ${sum.removed} removed, ${sum.files} files`}>
      <span className="text-done">+{sum.added}</span>
      <span className={sum.removed > 0 ? "text-fail" : "text-ink-3"}>−{sum.removed}</span>
      <span>{sum.files}</span>
    </span>
  );
});
