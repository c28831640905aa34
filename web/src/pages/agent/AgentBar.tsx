import { Link } from "@tanstack/react-router";
import type { Schema } from "../../api/client";
import { TopBar } from "../../app/TopBar";
import { useCw } from "../../app/cw";
import { useNow } from "../../lib/clock";
import { useStore } from "../../lib/store";
import { dollars, span } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { agentMark } from "../../ui/status";

interface Props {
  agent: Schema<"AgentView">;
  /** Its place among all agents: "4 of 32". */
  place: { at: number; of: number; next: string | null };
  onReview: () => void;
  onStop: () => void;
  stopping: boolean;
}

/** Which agent, how it stands, and its two acts. */
export function AgentBar({ agent, place, onReview, onStop, stopping }: Props) {
  const { live } = useCw();
  const activity = useStore(live.activityOf(agent.id)) ?? agent.activity ?? null;
  const mark = agentMark({ ...agent, activity });
  const run = agent.runs?.at(-1);
  const now = useNow();
  const took = run?.startedAt ? span((run.endedAt ? Date.parse(run.endedAt) : now) - Date.parse(run.startedAt)) : "";
  const works = agent.status === "running" || agent.status === "starting" || agent.status === "pending";
  return (
    <TopBar>
      <nav aria-label="Where" className="flex min-w-0 items-center gap-2">
        <Link to="/" className="text-ink-2 hover:text-ink max-tab:hidden">Now</Link>
        <span aria-hidden="true" className="text-ink-3 max-tab:hidden">/</span>
        <Icon name={mark.icon} className={mark.tone} />
        <h1 className="truncate text-14 font-bold">{agent.name}</h1>
      </nav>
      <span className="flex min-w-0 items-center gap-1.5 whitespace-nowrap">
        <span className={agent.status === "running" && mark.word === "Running" ? "text-work" : mark.text}>{agent.removedAt ? "Removed" : mark.word}</span>
        {run && <span className="truncate text-ink-3 tabular-nums">run {run.sessionNumber}{took && `, ${took}`}</span>}
        {agent.costUsd > 0 && <span className="text-ink-3 tabular-nums max-tab:hidden">{dollars(agent.costUsd)}</span>}
      </span>
      <span className="flex-1" />
      {place.of > 1 && place.at > 0 && <span className="text-ink-3 tabular-nums max-tab:hidden">{place.at} of {place.of}</span>}
      {place.next !== null && (
        <Link to="/agents/$name" params={{ name: place.next }} aria-label="Next agent" className="inline-flex size-(--control) items-center justify-center rounded-box text-ink-2 hover:bg-hover hover:text-ink max-tab:hidden">
          <Icon name="u-down" small />
        </Link>
      )}
      <Button icon="u-review" keys="r" className="max-tab:hidden" onClick={onReview}>Review</Button>
      {works && <Button icon="u-stop" keys="s" acting={stopping} onClick={onStop}>Stop</Button>}
    </TopBar>
  );
}
