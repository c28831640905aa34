import type { Schema } from "../../api/client";
import type { Edit } from "./edits";

/** What all items of a conversation have. */
interface Common {
  /** Its name for as long as it is held: the place of its first event. */
  key: string;
  /** The places of its first and its last event. */
  first: string;
  last: string;
  session: number;
  /** When its first event was stored; "" when that is not known. */
  at: string;
  /** When its last event was stored. */
  until: string;
  /** Grows with each change, so that only what changed is painted anew. */
  version: number;
  /** How much text it holds, about, in characters. */
  size: number;
  /** The call of the sub-agent that it belongs to; "" for the agent itself. */
  parent: string;
}

/** Words of the agent. `goesOn`: they go on from the item before. */
export interface SayItem extends Common {
  kind: "say";
  text: string;
  goesOn: boolean;
}

export interface ThinkItem extends Common {
  kind: "think";
  text: string;
}

/** A call of a tool, with its result once there is one. */
export interface ToolItem extends Common {
  kind: "tool";
  /** "": the result of a call that is not held. */
  tool: string;
  callId: string;
  input: unknown;
  /** What it changes in files, as its input tells it. */
  edits: Edit[];
  /** Files that it changed, as the CLI told it. */
  changed: { path: string; change: string }[];
  result: string | null;
  failed: boolean;
  denied: boolean;
}

/** The CLI's list of steps. `latest`: no newer one is held. */
export interface PlanItem extends Common {
  kind: "plan";
  steps: Schema<"PlanStep">[];
  latest: boolean;
}

/** What went wrong, or may: an error, tries of a transient one, a warning, a limit. */
export interface TroubleItem extends Common {
  kind: "trouble";
  what: "error" | "retry" | "warning" | "limit" | "near";
  text: string;
  /** How often it was tried again. */
  times: number;
  bucket: string;
}

/** A line between others: the context was shortened, files changed without a call. */
export interface NoteItem extends Common {
  kind: "note";
  what: "compaction" | "files";
  files: { path: string; change: string }[];
}

/** The CLI's own word on its end. */
export interface EndItem extends Common {
  kind: "end";
  text: string;
  failed: boolean;
  costUsd: number;
  turns: number;
}

export type Item = SayItem | ThinkItem | ToolItem | PlanItem | TroubleItem | NoteItem | EndItem;
