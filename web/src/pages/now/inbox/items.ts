import type { Schema } from "../../../api/client";
import { count, oneLine, spanInWords } from "../../../lib/words";
import { markOf, type Mark } from "../../../ui/status";

export type Item = Schema<"InboxItem">;
type Merge = Schema<"Merge">;

/** The mark of an item: its kind, with how many it stands for. */
export function markOfItem(item: Item, merge?: Merge): Mark {
  const mark = markOf("inbox", item.kind);
  if (item.kind === "question" && item.count > 1) return { ...mark, word: count(item.count, "question") };
  if (item.kind === "proposal") return { ...mark, word: count(item.count, "proposal") };
  if (item.kind === "merge" && merge?.status === "conflicted") return { ...mark, icon: "s-conflict", word: "Conflict" };
  if (item.kind === "merge") return { ...mark, word: merge?.status === "red" ? "Merge red" : "Merge" };
  return mark;
}

/** What it is, in one line. */
export function textOf(item: Item, now: number): string {
  if (item.kind === "stalled") return `No output for ${spanInWords(now - Date.parse(item.since))}`;
  // What is wrong with work does not say with which.
  const text = oneLine(item.task && (item.kind === "merge" || item.kind === "blocked") ? `${item.task}: ${item.text}` : item.text);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whom or what it is from. */
export function fromOf(item: Item): string {
  return item.agent ?? item.initiative ?? "";
}

/** "11 tasks wait, the longest for 26 minutes". */
export function summary(items: Item[], now: number): string {
  const oldest = Math.min(...items.map((item) => Date.parse(item.since)));
  const behind = items.reduce((sum, item) => sum + item.behind, 0);
  if (items.length === 0) return "";
  const longest = `the longest for ${spanInWords(now - oldest)}`;
  return behind === 0 ? longest : `${count(behind, "task waits", "tasks wait")}, ${longest}`;
}

export interface Shown {
  item: Item;
  /** It waits no more: somebody else dealt with it while it was open here. */
  gone: boolean;
}

/** One time that an item waits: what comes back later, as a result that was sent back, is another one. */
export const waitOf = (item: Item): string => `${item.key} ${item.since}`;

/**
 * The items to show: those that wait, without what was dealt with here, and in
 * its old place the chosen one, when it went meanwhile.
 */
export function shownItems(items: Item[], done: ReadonlySet<string>, chosen: { item: Item; place: number } | null): Shown[] {
  const shown: Shown[] = items.filter((item) => !done.has(waitOf(item))).map((item) => ({ item, gone: false }));
  if (chosen && !done.has(waitOf(chosen.item)) && !items.some((item) => item.key === chosen.item.key)) {
    shown.splice(Math.min(chosen.place, shown.length), 0, { item: chosen.item, gone: true });
  }
  return shown;
}
