import type { Schema } from "../../api/client";

type Agent = Pick<Schema<"AgentView">, "name" | "createdAt" | "initiativeId" | "removedAt">;

/** The agents in the order of the pages: those of an initiative together, then by when they were made. */
function inOrder<T extends Agent>(agents: readonly T[]): T[] {
  const began = new Map<string, string>();
  for (const one of agents) {
    const first = began.get(one.initiativeId);
    if (first === undefined || one.createdAt < first) began.set(one.initiativeId, one.createdAt);
  }
  const key = (one: Agent) => `${one.initiativeId === "" ? "~" : (began.get(one.initiativeId) ?? "")} ${one.initiativeId} ${one.createdAt}`;
  return agents.filter((one) => !one.removedAt).toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Where an agent is among the others, and who is beside it. */
export function placeOf(agents: readonly Agent[], name: string): { at: number; of: number; next: string | null; previous: string | null } {
  const all = inOrder(agents);
  const at = all.findIndex((one) => one.name === name);
  const beside = (step: number) => (all.length < 2 ? null : (all[(at + step + all.length) % all.length]?.name ?? null));
  return { at: at + 1, of: all.length, next: beside(1), previous: at < 0 ? beside(0) : beside(-1) };
}
