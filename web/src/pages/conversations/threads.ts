import type { Conversation } from "../../api/conversationQueries";
import { markOf, type Mark } from "../../ui/status";

/** The mark of a conversation: one that its agent was given is shown as delivered. */
export function markOfConversation(one: Pick<Conversation, "status" | "deliveredAt">): Mark {
  return markOf("conversation", one.status === "pending" && one.deliveredAt ? "delivered" : one.status);
}

/** Who is asked: the agent once there is one, else how the target was named. */
export function askedOf(one: Pick<Conversation, "to" | "targetKind" | "targetId">): string {
  return one.to ?? `${one.targetKind} ${one.targetId}`;
}

/** What happens, or has happened, with a question, as one sentence; the reason that cw knows comes first. */
export function standing(one: Pick<Conversation, "status" | "deliveredAt" | "reason" | "queue" | "wake" | "to" | "fetchedAt" | "from" | "targetKind" | "targetId">): string {
  const asked = askedOf(one);
  switch (one.status) {
    case "answered":
      return one.fetchedAt ? `${one.from} has read the answer.` : `${one.from} has not read the answer yet.`;
    case "cancelled":
      return one.reason ? `There will be no answer: ${one.reason}` : "There will be no answer.";
  }
  if (one.reason) return `It waits: ${one.reason}`;
  if (one.deliveredAt) return `${asked} has the question. ${one.from} waits for the answer.`;
  if (!one.to) return "It waits for an agent that works on what was asked.";
  if (one.wake) return `${asked} is resumed with it.`;
  return one.queue ? `${asked} gets it with its next run.` : `${asked} gets it when it looks for messages.`;
}

/** What the same two agents asked each other, oldest first. */
export function between(all: Conversation[], one: Conversation): Conversation[] {
  const pair = new Set([one.fromAgentId, one.toAgentId]);
  if (one.toAgentId === undefined) return [one];
  const found = all.filter((other) => other.toAgentId !== undefined && pair.has(other.fromAgentId) && pair.has(other.toAgentId));
  if (!found.some((other) => other.id === one.id)) found.push(one);
  return found.map((other) => (other.id === one.id ? one : other)).sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
}
