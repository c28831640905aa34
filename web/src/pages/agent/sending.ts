import type { Schema } from "../../api/client";

/** How a text comes to an agent, and when. */
export interface Sending {
  by: "message" | "resume" | null;
  word: string;
  says: string;
}

/** What becomes of a text to an agent, as it stands. */
export function sendingOf(agent: Pick<Schema<"AgentView">, "status" | "removedAt" | "queuedMessages">): Sending {
  const queued = agent.queuedMessages > 0 ? `, after ${agent.queuedMessages} that ${agent.queuedMessages === 1 ? "waits" : "wait"}` : "";
  if (agent.removedAt) return { by: null, word: "Send", says: "Removed: restore it first" };
  switch (agent.status) {
    case "idle":
      return { by: "message", word: "Send", says: "Idle: sent at once, in a new run" };
    case "crashed":
    case "stopped":
      return { by: "resume", word: "Resume", says: "A new run begins with this text; without one it is told how its last run ended" };
    case "waiting_for_input":
      return { by: "message", word: "Queue", says: `Waits for answers: sent together with them${queued}` };
    case "parked":
      return { by: "message", word: "Queue", says: `Parked: sent when it goes on${queued}` };
  }
  return { by: "message", word: "Queue", says: `Busy: sent when this run ends${queued}` };
}
