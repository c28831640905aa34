import type { Schema } from "../../api/client";

type Dispatch = Schema<"DispatchStatus">;
type Agent = Schema<"AgentView">;

/** One thing that can be looked at. */
export interface Reviewable {
  key: string;
  noun: "agent" | "task" | "initiative";
  ref: string;
  title: string;
  /** What it belongs to or who made it. */
  from: string;
  /** Status of a merge, or "landing" or "open". */
  status: string;
  since: string;
  note: string;
}

/** Who waits for a look comes first, then what broke, then what goes on by itself. */
const order = ["look", "red", "conflicted", "landing", "checking", "queued", "open"];

/** Everything that can be reviewed, most urgent first, oldest first among equals. */
export function reviewables(dispatch: Dispatch | undefined, agents: Agent[]): Reviewable[] {
  const names = new Map<string, string>();
  for (const one of [...(dispatch?.running ?? []), ...(dispatch?.waiting ?? []), ...(dispatch?.ready ?? [])]) names.set(one.id, one.name);
  const byId = new Map(agents.map((one) => [one.id, one]));
  const merges = (dispatch?.merges ?? []).map((one): Reviewable => ({
    key: one.id,
    noun: "task",
    ref: one.taskId,
    title: names.get(one.taskId) ?? "A task",
    from: byId.get(one.agentId)?.name ?? "",
    status: one.verify && !one.verifiedBy ? "look" : one.status,
    since: one.queuedAt,
    note: one.wait ?? "",
  }));
  const landing = (dispatch?.landing ?? []).map((one): Reviewable => ({ key: one.id, noun: "initiative", ref: one.slug, title: one.slug, from: "", status: "landing", since: "", note: "All tasks are done, and something is not landed" }));
  const inMerge = new Set((dispatch?.merges ?? []).map((one) => one.agentId));
  const alone = agents
    .filter((one) => !inMerge.has(one.id) && !one.taskId && one.status !== "pending" && (one.projects ?? []).some((place) => (place.stat?.filesChanged ?? 0) > 0))
    .map((one): Reviewable => ({ key: one.id, noun: "agent", ref: one.name, title: one.title, from: one.name, status: "open", since: one.updatedAt, note: "" }));
  return [...merges, ...landing, ...alone].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status) || (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
}
