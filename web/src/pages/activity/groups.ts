import { known, type EventType } from "./sentence";

/** Kinds of events that one looks for together. */
export interface Group {
  value: string;
  text: string;
  icon: string;
  /** The words before the colon of its types. */
  nouns: string[];
}

export const groups: Group[] = [
  { value: "agents", text: "Agents", icon: "u-agent", nouns: ["agent", "message"] },
  { value: "questions", text: "Questions", icon: "u-ask", nouns: ["question"] },
  { value: "conversations", text: "Conversations", icon: "u-chat", nouns: ["conversation"] },
  { value: "plans", text: "Plans", icon: "u-plan", nouns: ["plan"] },
  { value: "work", text: "Initiatives and tasks", icon: "u-init", nouns: ["initiative", "page", "phase", "task", "proposal"] },
  { value: "merges", text: "Merges", icon: "u-branch", nouns: ["merge"] },
  { value: "accounts", text: "Accounts and budgets", icon: "u-gauge", nouns: ["account", "budget"] },
  { value: "machine", text: "Machine and settings", icon: "u-gear", nouns: ["project", "dispatch", "disk", "token", "security", "mirror"] },
];

/** Types that are sent live and never stored, so no log has them. */
const fleeting: string[] = ["agent:output", "agent:activity"];

const nounOf = (type: string) => type.slice(0, type.indexOf(":"));

/** The group of a type; missing for a type of a later version. */
export function groupOf(type: string): Group | undefined {
  return groups.find((group) => group.nouns.includes(nounOf(type)));
}

/** The types that a filter means: those of a group, or one type by its name. Nothing: all. */
export function typesOf(filter: string | undefined): EventType[] {
  const group = groups.find((one) => one.value === filter);
  return known.filter((type) => !fleeting.includes(type) && (group ? group.nouns.includes(nounOf(type)) : type === filter));
}

/** What is looked for. */
export interface Filter {
  type?: string | undefined;
  /** Id of the agent. */
  agent?: string | undefined;
  /** Id of the initiative. */
  initiative?: string | undefined;
}

/** Whether an event that comes live is one that the log would have. */
export function matches(event: { seq?: number | undefined; type: string; agentId?: string; initiativeId?: string }, filter: Filter): boolean {
  if (event.seq === undefined) return false;
  if (filter.type !== undefined && !(typesOf(filter.type) as string[]).includes(event.type)) return false;
  if (filter.agent !== undefined && event.agentId !== filter.agent) return false;
  return filter.initiative === undefined || event.initiativeId === filter.initiative;
}

const shapes: Record<string, string> = {
  "agent:crashed": "s-crashed",
  "agent:stalled": "s-stalled",
  "agent:waiting": "s-waiting",
  "agent:parked": "s-parked",
  "agent:warning": "s-stalled",
  "agent:stopped": "s-stopped",
  "question:answered": "s-idle",
  "account:exhausted": "s-limit",
  "task:checkpoint": "s-check",
  "task:blocked": "s-blocked",
  "task:outside": "s-stalled",
  "merge:conflicted": "s-conflict",
  "merge:red": "s-red",
  "merge:merged": "s-idle",
};

/** The shape of a status where the event is one, else that of its group. */
export function iconOf(type: string): string {
  return shapes[type] ?? groupOf(type)?.icon ?? "u-pulse";
}

const needs = ["question:requested", "question:reminded", "task:checkpoint", "task:outside", "agent:stalled", "agent:waiting", "agent:warning", "budget:warning", "proposal:created"];
const fails = ["agent:crashed", "task:blocked", "merge:conflicted", "merge:red", "account:invalid", "budget:spent", "disk:low", "security:refused", "mirror:restored"];

/** Colour is news: what broke, and what waits for a person; the rest is grey. */
export function toneOf(type: string): string {
  if (fails.includes(type)) return "text-fail";
  if (needs.includes(type)) return "text-need-mark";
  return type === "merge:merged" || type === "initiative:landed" ? "text-done" : "text-ink-3";
}
