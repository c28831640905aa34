import type { Schema } from "../../api/client";
import { editsOf, numbered } from "./edits";
import type { Item, NoteItem, PlanItem, SayItem, ThinkItem, ToolItem, TroubleItem } from "./items";
import { comparePlaces, type OutputEvent } from "./output";

/** How much is held at once, in items and in characters of text. */
export const MOST_ITEMS = 4000;
export const MOST_TEXT = 24_000_000;
/** Words of the agent above this are parted at the end of a line. */
const PART = 4000;
const LONGEST_PART = 16_000;
/** What is held of one text. The raw view has all of it. */
const LONGEST = 200_000;

type Kept<T> = T extends Item ? Omit<T, "key" | "first" | "last" | "session" | "at" | "until" | "version" | "parent"> : never;

/**
 * A window over an agent's output, as items. Events are appended and prepended
 * at a cost of their own number alone; an event that was seen is ignored, so
 * that pages and the stream may overlap. It holds a bounded part: what is taken
 * away at one end is read again when it is wanted.
 */
export class Conversation {
  readonly items: Item[] = [];
  /** The places of the first and last event that it holds; "" for none. */
  first = "";
  last = "";
  /** How full the context was at the last event that told it. */
  context: Schema<"ContextUse"> | null = null;
  private size = 0;
  private readonly calls = new Map<string, ToolItem>();
  /** Calls that a list of steps took the place of: their results say nothing more. */
  private readonly silent = new Set<string>();
  private plan: PlanItem | null = null;

  /** Adds events behind all others. */
  append(events: readonly OutputEvent[]): void {
    for (const event of events) {
      if (this.last !== "" && comparePlaces(event.position, this.last) <= 0) continue;
      if (this.first === "") this.first = event.position;
      this.last = event.position;
      this.take(event);
    }
  }

  /** Adds events before all others. */
  prepend(events: readonly OutputEvent[]): void {
    const older = new Conversation();
    older.append(this.first === "" ? events : events.filter((one) => comparePlaces(one.position, this.first) < 0));
    if (older.first === "") return;
    for (const [id, call] of older.calls) this.join(id, call);
    for (const id of older.silent) this.hush(id);
    older.handOver(this.items[0]);
    if (older.plan && this.plan) older.plan.latest = false;
    this.plan ??= older.plan;
    this.context ??= older.context;
    this.first = older.first;
    if (this.last === "") this.last = older.last;
    const border = older.items.length;
    this.items.unshift(...older.items);
    this.size += older.size;
    const end = this.items.slice(border, border + 2).find((item) => item.kind === "end");
    if (end && !end.failed && this.said(end.session, end.text, end)) this.drop(end);
  }

  /** Forgets the oldest items above the bound. true: some went. */
  trimStart(): boolean {
    const over = this.over();
    if (over === 0) return false;
    const cut = this.quietPlace(over);
    for (const item of this.items.splice(0, cut)) this.forget(item);
    this.first = this.items[0]?.first ?? "";
    return true;
  }

  /** Forgets the newest items above the bound. true: some went. */
  trimEnd(): boolean {
    const over = this.over();
    if (over === 0) return false;
    const cut = this.quietPlace(this.items.length - over);
    for (const item of this.items.splice(cut)) this.forget(item);
    this.last = this.items.reduce((last, item) => (comparePlaces(item.last, last) > 0 ? item.last : last), this.first);
    return true;
  }

  clear(): void {
    this.items.length = 0;
    this.calls.clear();
    this.silent.clear();
    this.plan = null;
    this.first = this.last = "";
    this.size = 0;
  }

  /** How many items are too many; a tenth more than needed, so that it is seldom done. */
  private over(): number {
    let extra = this.items.length - MOST_ITEMS;
    if (extra <= 0 && this.size > MOST_TEXT) extra = Math.ceil(this.items.length * (1 - MOST_TEXT / this.size));
    return extra <= 0 ? 0 : Math.min(this.items.length - 1, extra + Math.ceil(MOST_ITEMS / 10));
  }

  /** The nearest index at which no item before it goes on behind it: calls stay with their results. */
  private quietPlace(wanted: number): number {
    const from = Math.max(1, wanted - 100);
    let last = "";
    for (let at = 0; at < from; at++) last = later(last, this.items[at]?.last ?? "");
    let found = 0;
    for (let at = from; at < Math.min(this.items.length, wanted + 100); at++) {
      if (comparePlaces(last, this.items[at]?.first ?? "") < 0 && (found === 0 || Math.abs(at - wanted) < Math.abs(found - wanted))) found = at;
      last = later(last, this.items[at]?.last ?? "");
    }
    return found || Math.max(1, wanted);
  }

  private forget(item: Item): void {
    this.size -= item.size;
    if (item.kind === "tool" && this.calls.get(item.callId) === item) this.calls.delete(item.callId);
    if (item === this.plan) this.plan = null;
  }

  private take(event: OutputEvent): void {
    const said = event.event;
    switch (said.kind) {
      case "text_delta":
        return this.say(event);
      case "thinking":
        return this.think(event);
      case "tool_call":
        return this.call(event);
      case "tool_result":
        return this.result(event);
      case "file_change":
        return this.changed(event);
      case "plan":
        return this.planned(event);
      case "usage":
        if (said.context && said.parentToolUseId === undefined) this.context = { ...this.context, ...said.context };
        return;
      case "retry":
      case "error":
      case "warning":
        return this.trouble(event, said.kind, said.text ?? "");
      case "limit":
        return this.trouble(event, said.limit?.warning ? "near" : "limit", said.limit?.text ?? "");
      case "compaction":
        this.push(event, { kind: "note", what: "compaction", files: [], size: 0 });
        return;
      case "result":
        return this.end(event);
    }
  }

  private push(event: OutputEvent, body: Kept<Item>): Item {
    const at = event.at ?? "";
    const item = {
      ...body, key: event.position, first: event.position, last: event.position,
      session: event.session, at, until: at, version: 0, parent: event.event.parentToolUseId ?? "",
    } as Item;
    this.items.push(item);
    this.size += item.size;
    return item;
  }

  private grow(item: Item, event: OutputEvent, more: number): void {
    item.last = event.position;
    item.until = event.at ?? item.until;
    item.version++;
    item.size += more;
    this.size += more;
  }

  /** The last item, when it is of the same kind, run and sub-agent. */
  private open<K extends Item["kind"]>(event: OutputEvent, kind: K): Extract<Item, { kind: K }> | null {
    const item = this.items.at(-1);
    const same = item?.kind === kind && item.session === event.session && item.parent === (event.event.parentToolUseId ?? "");
    return same ? (item as Extract<Item, { kind: K }>) : null;
  }

  private say(event: OutputEvent): void {
    const text = event.event.text ?? "";
    const open = this.open(event, "say") as SayItem | null;
    if (open === null && text.trim() === "") return;
    if (open && !isWhole(open.text)) {
      open.text += text;
      return this.grow(open, event, text.length);
    }
    this.push(event, { kind: "say", text, goesOn: open !== null, size: text.length });
  }

  private think(event: OutputEvent): void {
    const text = event.event.text ?? "";
    const open = this.open(event, "think") as ThinkItem | null;
    if (open === null) {
      if (text.trim() !== "") this.push(event, { kind: "think", text, size: text.length });
      return;
    }
    if (open.text.length < LONGEST) open.text += text;
    this.grow(open, event, text.length);
  }

  private call(event: OutputEvent): void {
    const { tool = "", toolUseId = "", input } = event.event;
    const edits = editsOf(tool, input);
    const size = JSON.stringify(input ?? null).length;
    const body = { kind: "tool" as const, tool, callId: toolUseId, input, edits, changed: [], result: null, failed: false, denied: false, size };
    this.calls.set(toolUseId, this.push(event, body) as ToolItem);
  }

  private result(event: OutputEvent): void {
    const { toolUseId = "", text = "", isError = false, permissionDenied = false } = event.event;
    if (this.silent.delete(toolUseId)) return;
    const result = cut(text);
    const call = this.calls.get(toolUseId);
    if (call && call.result === null) {
      Object.assign(call, { result, failed: isError, denied: permissionDenied, edits: call.edits.map((edit) => numbered(edit, result)) });
      return this.grow(call, event, result.length);
    }
    this.orphan(event, { result, failed: isError, denied: permissionDenied, size: result.length });
  }

  /** What is told of a call that is not held: it waits for the page that has the call. */
  private orphan(event: OutputEvent, told: Partial<Kept<ToolItem>>): void {
    const callId = event.event.toolUseId ?? "";
    const body = { kind: "tool" as const, tool: "", callId, input: null, edits: [], changed: [], result: null, failed: false, denied: false, size: 0, ...told };
    this.calls.set(callId, this.push(event, body) as ToolItem);
  }

  /** Gives what was told of a call its call, which came with an older page. */
  private join(id: string, call: ToolItem): void {
    const orphan = this.calls.get(id);
    if (orphan?.tool === "") {
      const { result, failed, denied, last, until } = orphan;
      Object.assign(call, result === null ? { last, until } : { result, failed, denied, last, until });
      call.changed.push(...orphan.changed);
      if (result !== null) call.edits = call.edits.map((edit) => numbered(edit, result));
      this.drop(orphan);
    }
    if (!orphan || orphan.tool === "") this.calls.set(id, call);
  }

  /** A call of an older page was a list of steps: what it answered says nothing more. */
  private hush(id: string): void {
    const orphan = this.calls.get(id);
    if (orphan?.tool === "") this.drop(orphan);
    else this.silent.add(id);
  }

  private drop(item: Item): void {
    this.items.splice(this.items.indexOf(item), 1);
    this.forget(item);
  }

  /** Words that were parted by the border of two pages are put together, in the newer item. */
  private handOver(next: Item | undefined): void {
    const item = this.items.at(-1);
    if (next?.kind !== "say" || item?.kind !== "say" || item.session !== next.session || item.parent !== next.parent || isWhole(item.text)) return;
    this.items.pop();
    this.size -= item.size;
    Object.assign(next, { text: item.text + next.text, first: item.first, at: item.at, goesOn: item.goesOn, version: next.version + 1, size: next.size + item.size });
  }

  private changed(event: OutputEvent): void {
    const { path = "", change = "", toolUseId = "" } = event.event;
    const call = this.calls.get(toolUseId);
    if (call) {
      call.changed.push({ path, change });
      return this.grow(call, event, path.length);
    }
    if (toolUseId !== "") return this.orphan(event, { changed: [{ path, change }], size: path.length });
    const open = this.open(event, "note") as NoteItem | null;
    if (open?.what !== "files") {
      this.push(event, { kind: "note", what: "files", files: [{ path, change }], size: path.length });
      return;
    }
    open.files.push({ path, change });
    this.grow(open, event, path.length);
  }

  /** A list of steps takes the place of the call that told it, and of the list before it when nothing was between. */
  private planned(event: OutputEvent): void {
    const steps = event.event.steps ?? [];
    if (steps.length === 0) return;
    const call = this.calls.get(event.event.toolUseId ?? "");
    if (call && this.items.at(-1) === call && call.result === null) {
      this.items.pop();
      this.forget(call);
      this.silent.add(call.callId);
    }
    const open = this.open(event, "plan") as PlanItem | null;
    if (open) {
      open.steps = steps;
      return this.grow(open, event, 0);
    }
    if (this.plan) {
      this.plan.latest = false;
      this.plan.version++;
    }
    const size = steps.reduce((sum, step) => sum + step.title.length, 0);
    this.plan = this.push(event, { kind: "plan", steps, latest: true, size }) as PlanItem;
  }

  private trouble(event: OutputEvent, what: TroubleItem["what"], text: string): void {
    const open = this.open(event, "trouble") as TroubleItem | null;
    if (open && open.what === what && (what === "retry" || open.text === text)) {
      open.text = text || open.text;
      open.times++;
      return this.grow(open, event, 0);
    }
    this.push(event, { kind: "trouble", what, text: cut(text), times: 1, bucket: event.event.bucket ?? "", size: text.length });
  }

  private end(event: OutputEvent): void {
    const { text = "", isError = false, costUsd = 0, turns = 0, context } = event.event;
    if (context) this.context = { ...this.context, ...context };
    const words = this.said(event.session, text) ? "" : cut(text);
    if (words === "" && !isError) return;
    this.push(event, { kind: "end", text: words, failed: isError, costUsd, turns, size: words.length });
  }

  /** Whether a text is the end of the agent's last words in a run, or before an item of it. */
  private said(session: number, text: string, before?: Item): boolean {
    const from = before ? this.items.indexOf(before) : this.items.length;
    const last = this.items.slice(Math.max(0, from - 50), from).findLast((item) => item.kind === "say");
    return last?.kind === "say" && last.session === session && last.text.trim().endsWith(text.trim());
  }
}

function later(a: string, b: string): string {
  return a === "" || comparePlaces(b, a) > 0 ? b : a;
}

/** Whether a part of the agent's words ends where it may: at the end of a line, outside of a block of code. */
function isWhole(text: string): boolean {
  if (text.length > LONGEST_PART) return true;
  return text.length > PART && text.endsWith("\n") && (text.match(/^\s*```/gm) ?? []).length % 2 === 0;
}

/** The beginning and the end of a text that is too long to be held. */
function cut(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST / 2)}\n… ${text.length - LONGEST} characters, see Raw …\n${text.slice(-LONGEST / 2)}`;
}
