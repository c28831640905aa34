import type { Agent } from "../agents/rows";
import { MessageDialog } from "./MessageDialog";
import { StopDialog } from "./StopDialog";
import type { Asked } from "./useAgentActs";

/** The dialog of what is asked. */
export function Asking({ asked, onStop, onClose }: { asked: Asked; onStop: (agents: Agent[]) => void; onClose: () => void }) {
  if (asked.kind === "message") return <MessageDialog agents={asked.agents} onClose={onClose} />;
  return <StopDialog agents={asked.agents} files={asked.files} onStop={() => onStop(asked.agents)} onClose={onClose} />;
}
