import type { components } from "../../api/schema";
import { outsideText } from "../../lib/outside";
import { bytes, count, dollars, grouped, oneLine, span } from "../../lib/words";

/*
 * One sentence for each type of event. A type of a later version is told by its
 * own name.
 */

export type EventType = components["schemas"]["EventType"];

/** What of an event the sentence is made of. */
export interface Told {
  type: string;
  data?: unknown;
}

/** Fields of a payload, whatever they hold. */
class Fields {
  private readonly of: Record<string, unknown>;

  constructor(data: unknown) {
    this.of = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  }

  /** A text in one line, shortened; "" when there is none. */
  text(name: string, most = 160): string {
    const value = this.of[name];
    const line = typeof value === "string" ? oneLine(value) : typeof value === "number" ? String(value) : "";
    return line.length > most ? `${line.slice(0, most - 1)}…` : line;
  }

  number(name: string): number {
    const value = this.of[name];
    return typeof value === "number" ? value : 0;
  }

  flag(name: string): boolean {
    return this.of[name] === true;
  }

  list(name: string): unknown[] {
    const value = this.of[name];
    return Array.isArray(value) ? value : [];
  }

  /** ": what it is", or nothing. */
  after(name: string): string {
    const text = this.text(name);
    return text === "" ? "" : `: ${text}`;
  }

  /** What a person calls something by; never empty. */
  get name(): string {
    return this.text("name") || "It";
  }

  get account(): string {
    return `${this.text("provider") || "?"}/${this.text("name") || "?"}`;
  }

  get pair(): [string, string] {
    return [this.text("from") || "An agent", this.text("to") || "another agent"];
  }
}

const why = (d: Fields) => (d.text("reason") ? ` (${d.text("reason").replace(/_/g, " ")})` : "");
const budget = (d: Fields) => `${d.text("scope")} ${d.name}: ${dollars(d.number("spentUsd"))} of ${dollars(d.number("limitUsd"))}`;
const free = (d: Fields) => `${bytes(d.number("freeBytes"))} free, the floor is ${bytes(d.number("floorBytes"))}`;
const merge = (d: Fields) => d.text("task") || d.name;
const what = (d: Fields) => `${d.text("action") || "change"} ${d.text("target") || "something"}${d.after("title")}`;
const step = (d: Fields) => `${d.text("title")} (${d.number("done")} of ${d.number("of")} done)`;

const sentences: Record<EventType, (d: Fields) => string> = {
  "project:added": (d) => `Project ${d.name} is registered${d.after(d.text("path") ? "path" : "remoteUrl")}`,
  "project:changed": (d) => `A policy of project ${d.name} was changed`,
  "project:removed": (d) => `Project ${d.name} is forgotten`,
  "project:trusted": (d) => `The commands of ${d.name}'s cw.yaml are trusted`,
  "project:untrusted": (d) => `The commands of ${d.name}'s cw.yaml are trusted no longer`,
  "agent:spawned": (d) => `${d.name} was made, with ${d.text("provider") || "its provider"}${d.after("title")}`,
  "agent:starting": (d) => `${d.name} is being started${why(d)}`,
  "agent:running": (d) => `${d.name} runs`,
  "agent:output": (d) => `An agent wrote ${bytes(d.number("length"))} of output`,
  "agent:activity": () => "What an agent does has changed",
  "agent:waiting": (d) => `${d.name} waits for answers to ${count(d.number("questions"), "question")}`,
  "agent:warning": (d) => `${d.name}${d.after("warning")}`,
  "agent:stopped": (d) => `${d.name} stopped${why(d)}, with ${count(d.number("commits"), "new commit")}`,
  "agent:crashed": (d) => `${d.name} crashed${why(d)}${d.after("error")}`,
  "agent:resumed": (d) => `${d.name} goes on${why(d)}${d.after("why")}`,
  "agent:stalled": (d) => `${d.name} has been silent for ${span(d.number("seconds") * 1000)}${d.text("tool") ? `, while ${d.text("tool")} runs` : ""}`,
  "agent:removed": (d) => `${d.name} was removed; it can be restored`,
  "agent:restored": (d) => `${d.name} is back`,
  "agent:purged": (d) => `What was left of ${d.name} is gone for good, ${bytes(d.number("bytes"))}`,
  "agent:parked": (d) => `${d.name} is parked${d.after("text")}`,
  "agent:account_switched": (d) => `${d.name} moved to ${d.text("toProvider")}/${d.text("toName")}, no work lost`,
  "account:added": (d) => `Account ${d.account} was added`,
  "account:changed": (d) => `Account ${d.account} was changed${d.after("text")}`,
  "account:removed": (d) => `Account ${d.account} was removed`,
  "account:exhausted": (d) => `Account ${d.account} is at its usage limit${d.after("text")}`,
  "account:invalid": (d) => `Account ${d.account} cannot be used${d.after("why")}`,
  "account:refreshed": (d) => `The token of account ${d.account} was renewed`,
  "budget:warning": (d) => `80 % of a budget are spent: ${budget(d)}`,
  "budget:spent": (d) => `A budget is spent: ${budget(d)}. Its agents commit and stop`,
  "question:requested": (d) => `${d.name} asks${d.after("question")}`,
  "question:answered": (d) => `A person answered ${d.name}${d.after("answer")}`,
  "question:withdrawn": (d) => `A question of ${d.name} needs no answer any more${d.after("reason")}`,
  "question:reminded": (d) => `${d.name} still waits for an answer${d.after("question")}`,
  "conversation:created": (d) => `${d.pair[0]} asks ${d.pair[1]}${d.after("question")}`,
  "conversation:delivered": (d) => `${d.pair[1]} has the question of ${d.pair[0]}`,
  "conversation:answered": (d) => `${d.pair[1]} answered ${d.pair[0]}${d.after("answer")}`,
  "conversation:cancelled": (d) => `${d.pair[0]} will get no answer of ${d.pair[1]}${d.after("reason")}`,
  "plan:created": (d) => `${d.name} made a plan of ${count(d.list("steps").length, "step")}${d.after("title")}`,
  "plan:revised": (d) => `${d.name} changed its plan, now of ${count(d.list("steps").length, "step")}`,
  "plan:step_started": (d) => `${d.name} began: ${step(d)}`,
  "plan:step_completed": (d) => `${d.name} ${d.text("status") === "skipped" ? "skipped" : "completed"}: ${step(d)}`,
  "message:queued": (d) => `A message waits for the next run of ${d.name}`,
  "initiative:created": (d) => `Initiative ${d.name} was made`,
  "initiative:changed": (d) => (d.text("status") === "archived" ? `Initiative ${d.name} is archived` : `Initiative ${d.name} was changed`),
  "page:created": (d) => `A page was made${d.after("title")}`,
  "page:changed": (d) => `A page was changed${d.after("title")}, revision ${grouped(d.number("revision"))}`,
  "page:removed": (d) => `A page was removed${d.after("title")}`,
  "phase:created": (d) => `Phase ${d.name} was made`,
  "phase:changed": (d) => `Phase ${d.name} is ${d.text("status") || "changed"}`,
  "task:created": (d) => `Task ${d.name} was made`,
  "task:changed": (d) => `Task ${d.name} is ${d.text("status") || "changed"}`,
  "task:checkpoint": (d) => `Task ${d.name} waits for a person`,
  "task:blocked": (d) => `Task ${d.name} is blocked${d.after("reason")}`,
  "task:outside": (d) => `The work on ${d.name} ${outsideText(d.number("total"), d.list("files").map(String))}`,
  "merge:queued": (d) => `The work on ${merge(d)} is to be merged`,
  "merge:checking": (d) => `The work on ${merge(d)} is checked at the commit that would be merged`,
  "merge:conflicted": (d) => `The work on ${merge(d)} conflicts with what was merged before it${d.after("text")}`,
  "merge:red": (d) => `A check of ${merge(d)} failed at the merge commit${d.after("text")}`,
  "merge:merged": (d) => `The work on ${merge(d)} is on the branch of its initiative`,
  "merge:dismissed": (d) => `The work on ${merge(d)} will not be merged${d.after("text")}`,
  "initiative:landed": (d) => `Initiative ${d.text("slug")} landed on ${d.text("into") || "its branch"} of ${d.text("project") || "its project"}`,
  "dispatch:changed": (d) => dispatcher(d),
  "proposal:created": (d) => `An architect suggests: ${what(d)}`,
  "proposal:accepted": (d) => `A person accepted: ${what(d)}`,
  "proposal:dismissed": (d) => `A person dismissed: ${what(d)}`,
  "proposal:superseded": (d) => `A later proposal took the place of: ${what(d)}`,
  "disk:low": (d) => `The disk is nearly full, no run is started: ${free(d)}`,
  "disk:ok": (d) => `The disk has room again: ${free(d)}`,
  "token:created": (d) => `${d.flag("session") ? "A browser was let in" : "A token was made"}${d.after("name")}`,
  "token:revoked": (d) => `${d.flag("session") ? "The session of a browser" : "A token"} was ended${d.after("name")}`,
  "security:refused": (d) => `A caller was refused${d.after("what")}`,
  "mirror:restored": (d) => `In the mirror of ${d.text("project") || "a project"} was put back what something had changed: ${d.list("changed").map((one) => oneLine(String(one))).join(", ")}`,
};

function dispatcher(d: Fields): string {
  if (d.text("pressure")) return `No task is started${d.after("pressure")}`;
  switch (d.text("state")) {
    case "paused":
      return "The dispatcher is paused: nothing is started or merged";
    case "draining":
      return "The dispatcher drains: nothing is started, what is done is merged";
  }
  return "The dispatcher runs: tasks are started";
}

/** All types that have a sentence. */
export const known = Object.keys(sentences) as EventType[];

/** What happened, in one sentence without its full stop. */
export function sentence(event: Told): string {
  const make = sentences[event.type as EventType] as ((d: Fields) => string) | undefined;
  return make ? make(new Fields(event.data)) : oneLine(event.type);
}
