import type { Schema } from "../../../api/client";

export type Agent = Schema<"AgentView">;
type Initiative = Schema<"Initiative">;

/** What the filter bar shows, in its order. */
export const shows = ["all", "running", "waiting", "stalled", "crashed", "parked", "idle", "other"] as const;
export type Show = (typeof shows)[number];

/** Whether a link's word is one of ours; else all are shown. */
export function showOf(word: string | undefined): Show {
  return shows.find((one) => one === word) ?? "all";
}

/** Which agents are shown. */
export interface Filter {
  show: Show;
  /** Words, all of which are in its name, task, initiative or account. */
  find: string;
  /** "claude/team-1"; "": all. */
  account: string;
}

/** Whether a call of a running agent waits for an answer of a person. */
export function asksNow(agent: Agent): boolean {
  return agent.status === "running" && (agent.pendingQuestions ?? []).length > 0;
}

/** Whether a filter leaves anything out. */
export function isSet(filter: Filter): boolean {
  return filter.show !== "all" || filter.find !== "" || filter.account !== "";
}

export const sameFilter = (a: Filter, b: Filter): boolean => a.show === b.show && a.find === b.find && a.account === b.account;

/** Where a browser keeps filters that have a name. */
export const FILTERS = "cw.filters";

/** The status under which the bar counts an agent. Stalled ones are running ones, too. */
export function statusOf(agent: Agent): Show {
  if (asksNow(agent)) return "waiting";
  switch (agent.status) {
    case "running":
      return "running";
    case "waiting_for_input":
      return "waiting";
    case "crashed":
    case "parked":
    case "idle":
      return agent.status;
  }
  return "other";
}

export function isStalled(agent: Agent): boolean {
  return agent.status === "running" && agent.activity?.state === "stalled";
}

/** "claude/team-1": the account, with whose it is. */
export function accountOf(agent: Agent): string {
  return agent.accountName === "" ? agent.provider : `${agent.provider}/${agent.accountName}`;
}

/** How many agents there are for each choice of the bar. */
export function countsOf(agents: Agent[]): Record<Show, number> {
  const counts = Object.fromEntries(shows.map((show) => [show, 0])) as Record<Show, number>;
  for (const agent of agents) {
    counts.all++;
    counts[statusOf(agent)]++;
    if (isStalled(agent)) counts.stalled++;
  }
  return counts;
}

function fitsStatus(agent: Agent, show: Show): boolean {
  return show === "all" || statusOf(agent) === show || (show === "stalled" && isStalled(agent));
}

/** Whether a filter lets an agent through. */
export function fits(agent: Agent, filter: Filter, initiative: string): boolean {
  if (!fitsStatus(agent, filter.show)) return false;
  if (filter.account !== "" && accountOf(agent) !== filter.account) return false;
  const text = `${agent.name} ${agent.title} ${initiative} ${accountOf(agent)} ${agent.definition}`.toLowerCase();
  return filter.find.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** Agents of one initiative, the oldest first. */
export interface Group {
  /** Id of the initiative; "": agents without one. */
  id: string;
  initiative: Initiative | null;
  agents: Agent[];
  costUsd: number;
}

/** One line of the table. */
export type Row = { kind: "group"; key: string; group: Group } | { kind: "agent"; key: string; agent: Agent };

const byStart = (a: { createdAt: string; id: string }, b: { createdAt: string; id: string }) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id);

/** Agents in the order of the table: by initiative, then by start, never by what changes. */
export function ordered(agents: Agent[], initiatives: Initiative[], grouped: boolean): Agent[] {
  if (!grouped) return [...agents].sort(byStart);
  const place = new Map([...initiatives].sort(byStart).map((one, i) => [one.id, i]));
  const rank = (agent: Agent) => place.get(agent.initiativeId) ?? (agent.initiativeId === "" ? Infinity : place.size);
  return [...agents].sort((a, b) => (rank(a) === rank(b) ? a.initiativeId.localeCompare(b.initiativeId) || byStart(a, b) : rank(a) - rank(b)));
}

function groupsOf(agents: Agent[], initiatives: Initiative[]): Group[] {
  const groups = new Map<string, Group>();
  for (const agent of agents) {
    const id = agent.initiativeId;
    const group = groups.get(id) ?? { id, initiative: initiatives.find((one) => one.id === id) ?? null, agents: [], costUsd: 0 };
    group.agents.push(agent);
    group.costUsd += agent.costUsd;
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** The lines of the table: agents in their order, with a head before those of each initiative. */
export function rowsOf(agents: Agent[], initiatives: Initiative[], grouped: boolean): Row[] {
  const line = (agent: Agent): Row => ({ kind: "agent", key: agent.id, agent });
  if (!grouped) return agents.map(line);
  return groupsOf(agents, initiatives).flatMap((group) => [{ kind: "group", key: `group:${group.id}`, group }, ...group.agents.map(line)]);
}

/** Added and removed lines and changed files, over all places of an agent; null when nothing is known to be changed. */
export function changesOf(agent: Agent): { added: number; removed: number; files: number } | null {
  const sum = { added: 0, removed: 0, files: 0 };
  for (const place of agent.projects ?? []) {
    sum.added += place.stat.additions;
    sum.removed += place.stat.deletions;
    sum.files += place.stat.filesChanged;
  }
  return sum.files === 0 ? null : sum;
}

/** Files that are not committed, over all places. */
export function uncommitted(agent: Agent): number {
  return (agent.projects ?? []).reduce((sum, place) => sum + place.dirtyFiles, 0);
}

/** How long an agent's runs took in all, in milliseconds; one that is under way counts until now. */
export function runTime(agent: Agent, now: number): number {
  return (agent.runs ?? []).reduce((sum, run) => {
    if (!run.startedAt) return sum;
    return sum + Math.max(0, (run.endedAt ? Date.parse(run.endedAt) : now) - Date.parse(run.startedAt));
  }, 0);
}
