import type { Client } from "../../../api/client";
import { wordsOf } from "../../../api/problem";
import { count } from "../../../lib/words";
import { uncommitted, type Agent } from "../agents/rows";

/** What a text does to an agent, said before it is sent. */
export function effectOf(agent: Agent): "queued" | "resumed" | "refused" {
  switch (agent.status) {
    case "idle":
    case "crashed":
    case "stopped":
      return "resumed";
    case "pending":
    case "starting":
    case "running":
    case "waiting_for_input":
    case "parked":
      return "queued";
  }
  return "refused";
}

/** Gives an agent a text: an agent that crashed or was stopped goes on with it. */
export function tell(client: Client, agent: Agent, text: string): Promise<unknown> {
  const path = { id: agent.id };
  if (agent.status === "crashed" || agent.status === "stopped") return client.post("/v1/agents/{id}/resume", { path, body: { text } });
  return client.post("/v1/agents/{id}/messages", { path, body: { text } });
}

export const stop = (client: Client, agent: Agent): Promise<unknown> => client.post("/v1/agents/{id}/stop", { path: { id: agent.id }, body: {} });
export const resume = (client: Client, agent: Agent): Promise<unknown> => client.post("/v1/agents/{id}/resume", { path: { id: agent.id }, body: {} });
export const remove = (client: Client, agent: Agent): Promise<unknown> => client.post("/v1/agents/{id}/remove", { path: { id: agent.id } });
export const restore = (client: Client, agent: Agent): Promise<unknown> => client.post("/v1/agents/{id}/restore", { path: { id: agent.id } });

/** How many files of an agent are not committed this moment; what the row knows where that cannot be read. */
export async function uncommittedNow(client: Client, agent: Agent): Promise<number> {
  try {
    const diff = await client.get("/v1/agents/{id}/diff", { path: { id: agent.id }, query: { stat: true } });
    return diff.uncommitted?.length ?? 0;
  } catch {
    return uncommitted(agent);
  }
}

/** Whether an agent has a process, or will have one by itself. */
export const canStop = (agent: Agent): boolean => !["idle", "crashed", "stopped"].includes(agent.status);
export const canResume = (agent: Agent): boolean => ["idle", "crashed", "stopped"].includes(agent.status);
export const canRemove = canResume;

export interface Outcome {
  done: Agent[];
  failed: { agent: Agent; words: string }[];
}

/** Does the same to several agents; one that fails keeps no other back. */
export async function toEach(agents: Agent[], act: (agent: Agent) => Promise<unknown>): Promise<Outcome> {
  const outcome: Outcome = { done: [], failed: [] };
  await Promise.all(
    agents.map((agent) =>
      act(agent).then(
        () => outcome.done.push(agent),
        (error: unknown) => outcome.failed.push({ agent, words: wordsOf(error) }),
      ),
    ),
  );
  return outcome;
}

/** "brave-otter", "3 agents". */
export function named(agents: Agent[]): string {
  const [first] = agents;
  return agents.length === 1 && first ? first.name : count(agents.length, "agent");
}

/** "brave-otter: it does not run. sly-stoat: …". */
export function failures(outcome: Outcome): string {
  return outcome.failed.map(({ agent, words }) => `${agent.name}: ${words}`).join(" ");
}
