import type { Schema } from "../../../api/client";
import type { Activity as Told } from "../../../api/live";
import { clockTime, oneLine } from "../../../lib/words";
import { asksNow, type Agent } from "./rows";

/** What an agent does right now, in a word and what it does that to. */
export interface Doing {
  icon: string;
  verb: string;
  subject: string;
  /** The subject is a command or a path. */
  code: boolean;
  /** Since when; null when that is not known. */
  since: string | null;
}

/** Later daemons say more of what an agent does. */
type Activity = Told & { verb?: string; subject?: string; since?: string };

/** What is known beside the agent itself. */
export interface Around {
  activity: Told | null;
  merge?: Schema<"Merge"> | undefined;
  task?: Schema<"DispatchTask"> | undefined;
  proposals?: number | undefined;
}

const doing = (icon: string, verb: string, subject = "", more: { code?: boolean; since?: string | null | undefined } = {}): Doing => ({
  icon,
  verb,
  subject: oneLine(subject),
  code: more.code ?? false,
  since: more.since ?? null,
});

const verbs: Record<string, { icon: string; word: string; code?: boolean }> = {
  think: { icon: "u-think", word: "Thinks" },
  say: { icon: "u-note", word: "Says" },
  run: { icon: "u-term", word: "Run", code: true },
  read: { icon: "u-read", word: "Read", code: true },
  edit: { icon: "u-edit", word: "Edit", code: true },
  write: { icon: "u-edit", word: "Write", code: true },
  search: { icon: "u-find", word: "Search", code: true },
  fetch: { icon: "u-web", word: "Fetch", code: true },
  plan: { icon: "u-plan", word: "Plans" },
  ask: { icon: "u-ask", word: "Asks" },
  delegate: { icon: "u-agent", word: "Delegates" },
  use: { icon: "u-agent", word: "Uses", code: true },
};

/** The icon of a tool, by what its name says. */
function ofTool(tool: string): string {
  if (/bash|shell|exec|command|term/i.test(tool)) return "u-term";
  if (/edit|write|patch/i.test(tool)) return "u-edit";
  if (/read|view|cat/i.test(tool)) return "u-read";
  if (/grep|glob|search|find|list/i.test(tool)) return "u-find";
  if (/web|fetch/i.test(tool)) return "u-web";
  if (/todo|plan/i.test(tool)) return "u-plan";
  return "u-agent";
}

/** What a running agent does, as its output told. */
function running(agent: Agent, activity: Activity | null): Doing {
  const since = activity?.since ?? activity?.lastAt;
  if (activity?.state === "retrying") return doing("u-clock", "Tries again", activity.attempt ? `attempt ${activity.attempt}` : "", { since: activity.lastAt });
  const known = verbs[activity?.verb ?? ""];
  if (known) return doing(known.icon, known.word, activity?.subject, { code: known.code ?? false, since });
  if (activity?.tool) return doing(ofTool(activity.tool), "Uses", activity.tool, { code: true, since });
  const step = agent.plan?.current ?? "";
  return step === "" ? doing("u-think", "Works", agent.lastSnippet ?? "", { since }) : doing("u-plan", "Works on", step, { since });
}

function asking(agent: Agent): Doing {
  const first = (agent.pendingQuestions ?? [])[0];
  return doing("u-ask", "Asks", first?.question ?? "", { since: first?.createdAt ?? agent.updatedAt });
}

const stopped: Record<string, string> = { user: "by a person, work kept", budget: "its budget is spent", stalled: "it was silent for too long" };

/** What an agent at rest came to. */
function idle(agent: Agent, around: Around): Doing {
  const merge = around.merge;
  if (merge?.waitCode === "person") return doing("u-ask", "Done", "a person looks at the result", { since: merge.updatedAt });
  if (merge?.status === "queued") return doing("s-queued", "Queued", merge.wait ?? "to be merged", { since: merge.updatedAt });
  if (merge?.status === "checking") return doing("u-ok", "Verifying", "the merge is checked", { since: merge.updatedAt });
  if (merge?.status === "red") return doing("s-red", "Merge red", merge.wait ?? "", { since: merge.updatedAt });
  if (merge?.status === "conflicted") return doing("s-conflict", "Conflict", merge.wait ?? "", { since: merge.updatedAt });
  if (around.proposals) return doing("u-ok", "Proposed", around.proposals === 1 ? "1 change" : `${around.proposals} changes`, { since: agent.updatedAt });
  return doing("u-ok", "Done", agent.noChanges || agent.result || agent.lastSnippet || "", { since: agent.updatedAt });
}

/** What an agent does this second, or why it does nothing. */
export function thisSecond(agent: Agent, around: Around): Doing {
  switch (agent.status) {
    case "pending":
      return doing("u-clock", "Waits", around.task?.wait?.text ?? "to be started", { since: agent.createdAt });
    case "starting":
      return doing("u-clock", "Starts", "", { since: agent.updatedAt });
    case "running":
      return asksNow(agent) ? asking(agent) : running(agent, around.activity);
    case "waiting_for_input":
      return asking(agent);
    case "parked":
      return doing("u-pause", "Parked", agent.retryAt ? `until ${dayAndTime(agent.retryAt)}` : "at its limit", { since: agent.updatedAt });
    case "crashed":
      return doing("u-x", "Crashed", agent.error, { since: agent.updatedAt });
    case "stopped":
      return doing("u-stop", "Stopped", stopped[agent.reason] ?? "work kept", { since: agent.updatedAt });
  }
  return idle(agent, around);
}

/** "Mon 09:00", or "09:00" of today. */
export function dayAndTime(at: string): string {
  const day = new Date(at);
  const today = day.toDateString() === new Date().toDateString();
  return today ? clockTime(at) : `${day.toLocaleDateString("en-GB", { weekday: "short" })} ${clockTime(at)}`;
}
