import { useStore } from "../../../lib/store";
import { useCw } from "../../../app/cw";
import { agentMark, type Mark } from "../../../ui/status";
import type { Agent } from "./rows";
import { asksNow } from "./rows";

/** The mark of an agent, as it is this second. One whose call waits for an answer waits. */
export function useMark(agent: Agent): Mark {
  const told = useStore(useCw().live.activityOf(agent.id));
  if (asksNow(agent)) return agentMark({ ...agent, status: "waiting_for_input" });
  return agentMark({ ...agent, activity: told ?? agent.activity });
}
