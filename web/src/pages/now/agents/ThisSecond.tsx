import { memo } from "react";
import { useStore } from "../../../lib/store";
import { useCw } from "../../../app/cw";
import { Ago } from "../../../ui/Ago";
import { Icon } from "../../../ui/Icon";
import type { Agent } from "./rows";
import { thisSecond, type Around } from "./thisSecond";

interface Props extends Omit<Around, "activity"> {
  agent: Agent;
}

/** What an agent does this second. It alone is painted anew when that changes. */
export const ThisSecond = memo(function ThisSecond({ agent, ...around }: Props) {
  const told = useStore(useCw().live.activityOf(agent.id));
  const now = thisSecond(agent, { ...around, activity: told ?? agent.activity });
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-12 text-ink-2">
      <Icon name={now.icon} small className="text-ink-3" />
      <span className="flex-none">{now.verb}</span>
      {now.code ? <code className="truncate text-12 text-ink">{now.subject}</code> : <span className="truncate">{now.subject}</span>}
      {now.since && <Ago at={now.since} className="ml-auto flex-none pl-1 whitespace-nowrap text-ink-3 max-tab:hidden" />}
    </span>
  );
});
