import type { Schema } from "../../api/client";
import { outsideText } from "../../lib/outside";
import { oneLine } from "../../lib/words";
import { markOf, type Mark } from "../../ui/status";

type Event = Schema<"Event">;

/** The types of events that tell how an initiative came to where it is. */
export const told: Schema<"EventType">[] = [
  "initiative:created", "initiative:landed", "page:created", "page:changed", "page:removed", "phase:created", "phase:changed",
  "task:created", "task:changed", "task:blocked", "task:checkpoint", "task:outside", "proposal:created", "proposal:accepted", "proposal:dismissed",
  "merge:merged", "merge:red", "merge:conflicted",
];

/** One line of the timeline. */
export interface Line {
  key: string;
  at: string;
  mark: Mark;
  text: string;
  /** The task that it is about, to be opened. */
  task?: string;
}

/** The lines of some events, newest first. The same thing said twice in a row stands once. */
export function storyOf(events: Event[]): Line[] {
  const out: Line[] = [];
  for (const event of events) {
    const line = lineOf(event);
    const last = out.at(-1);
    if (last && last.text === line.text) last.key = line.key; // the older one began it
    else out.push(line);
  }
  return out;
}

function lineOf(event: Event): Line {
  const data = (event.data ?? {}) as Record<string, unknown>;
  const said = (field: string) => oneLine(typeof data[field] === "string" ? data[field] : "");
  const name = said("name") || said("title") || said("slug");
  const noun = event.type.slice(0, event.type.indexOf(":"));
  const line = (mark: Mark, text: string): Line => ({ key: String(event.seq), at: event.at, mark, text, ...(event.taskId === undefined ? {} : { task: event.taskId }) });
  switch (event.type) {
    case "initiative:created":
      return line(markOf("phase", "draft"), `The initiative ${name} is made`);
    case "initiative:landed":
      return line(markOf("merge", "merged"), `Landed on ${said("into")} of ${said("project")}`);
    case "page:created":
    case "phase:created":
    case "task:created":
      return line(markOf("phase", "draft"), `New ${noun}: ${name}`);
    case "page:changed":
      return line(markOf("proposal", "superseded"), `Page changed: ${name}`);
    case "page:removed":
      return line(markOf("proposal", "dismissed"), `Page removed: ${name}`);
    case "phase:changed":
      return line(markOf("phase", said("status")), `Phase ${name} is ${said("status")}`);
    case "task:changed":
      return line(markOf("task", said("status")), `${name} is ${said("status")}`);
    case "task:blocked":
      return line(markOf("task", "blocked"), `${name} is blocked: ${said("reason")}`);
    case "task:checkpoint":
      return line(markOf("inbox", "checkpoint"), `${name} waits for a person`);
    case "task:outside":
      return line(markOf("inbox", "stalled"), `${name} ${outsideText(Number(data["total"] ?? 0), Array.isArray(data["files"]) ? data["files"].map(String) : [])}`);
    case "proposal:created":
      return line(markOf("proposal", "open"), `Suggested: ${said("action")} ${said("target")} ${name}`);
    case "proposal:accepted":
    case "proposal:dismissed":
      return line(markOf("proposal", event.type.slice(9)), `${event.type.slice(9) === "accepted" ? "Accepted" : "Dismissed"}: ${said("action")} ${said("target")} ${name}`);
    case "merge:merged":
      return line(markOf("merge", "merged"), `${said("task")} is merged`);
    case "merge:red":
    case "merge:conflicted":
      return line(markOf("merge", event.type.slice(6)), `${said("task")}: ${said("text") || (event.type === "merge:red" ? "a check is red" : "it conflicts")}`);
  }
  return line(markOf("phase", "draft"), `${event.type} ${name}`);
}

/** "23 November": the day of a line, in the person's own time. */
export function dayOf(at: string): string {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "long" });
}
