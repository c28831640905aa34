import type { Schema } from "../../api/client";
import type { Item } from "./items";

type Run = Schema<"Run">;
type Message = Schema<"Message">;
type Question = Schema<"Question">;

/** A row of the stream: an item of the output, or what cw knows of the run around it. */
export type Row =
  | { kind: "item"; key: string; item: Item }
  | { kind: "run"; key: string; run: Run }
  | { kind: "message"; key: string; message: Message }
  | { kind: "questions"; key: string; questions: Question[] };

interface Around {
  runs: readonly Run[];
  messages: readonly Message[];
  questions: readonly Question[];
  /** There is output before the items, or behind them. */
  older: boolean;
  newer: boolean;
}

interface Extra {
  session: number;
  at: number;
  /** Of those of one time: the run, then what it was told, then what it asks. */
  order: number;
  row: Row;
}

/** Where what waits for the next run stands: behind all runs. */
const LATER = Number.MAX_SAFE_INTEGER;

/** Puts runs, texts to the agent and its questions between the items of its output. */
export function rowsOf(items: readonly Item[], around: Around): Row[] {
  const extras = within(items, extrasOf(around), around);
  const rows: Row[] = [];
  let next = 0;
  for (const item of items) {
    for (let extra = extras[next]; extra && goesBefore(extra, item); extra = extras[++next]) rows.push(extra.row);
    rows.push({ kind: "item", key: item.key, item });
  }
  for (const extra of extras.slice(next)) rows.push(extra.row);
  return rows;
}

function goesBefore(extra: Extra, item: Item): boolean {
  if (extra.session !== item.session) return extra.session < item.session;
  return extra.order < 2 || (item.at !== "" && extra.at < Date.parse(item.at));
}

/** Only what belongs to what is held: the rest comes with its page. */
function within(items: readonly Item[], extras: Extra[], around: Around): Extra[] {
  const first = items[0];
  const last = items.at(-1);
  return extras.filter((extra) => {
    if (around.older && first) {
      const before = extra.session === first.session ? extra.order < 2 || (first.at !== "" && extra.at < Date.parse(first.at)) : extra.session < first.session;
      if (before) return false;
    }
    if (around.newer && last) {
      const behind = extra.session === last.session ? extra.order === 2 && last.at !== "" && extra.at > Date.parse(last.until || last.at) : extra.session > last.session;
      if (behind) return false;
    }
    return true;
  });
}

function extrasOf(around: Around): Extra[] {
  const sessions = new Map(around.runs.map((run) => [run.id, run.sessionNumber]));
  const extras: Extra[] = around.runs.filter((run) => run.kind === "agent").map((run) => ({
    session: run.sessionNumber, at: Date.parse(run.startedAt ?? run.createdAt), order: 0, row: { kind: "run", key: `run ${run.id}`, run },
  }));
  for (const message of around.messages) {
    if (message.role === "assistant" || message.hiddenAt) continue;
    const session = message.runId ? (sessions.get(message.runId) ?? LATER) : LATER;
    extras.push({ session, at: Date.parse(message.createdAt), order: 1, row: { kind: "message", key: `message ${message.id}`, message } });
  }
  for (const questions of groups(around.questions)) {
    const one = questions[0] as Question;
    const session = sessions.get(one.runId) ?? LATER;
    // What the signal asks comes at the end of its run.
    const at = one.source === "signal" ? Infinity : Date.parse(one.createdAt);
    extras.push({ session, at, order: 2, row: { kind: "questions", key: `questions ${one.requestId}`, questions } });
  }
  return extras.sort((a, b) => a.session - b.session || a.order - b.order || a.at - b.at);
}

/** Questions that were asked at once, in their order. */
function groups(questions: readonly Question[]): Question[][] {
  const found = new Map<string, Question[]>();
  for (const one of questions) found.set(one.requestId, [...(found.get(one.requestId) ?? []), one]);
  return [...found.values()].map((group) => group.sort((a, b) => a.seq - b.seq));
}
