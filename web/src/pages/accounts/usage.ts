import type { AccountView, UsageWindow } from "../../api/accountQueries";
import { clockTime, oneLine, span } from "../../lib/words";
import type { Mark } from "../../ui/status";

/** One window of an account's limits, as its bar shows it. */
export interface WindowBar {
  title: string;
  /** Percent of the limit that is used, 0 to 100. */
  used: number;
  /** Percent of the window that has passed; null: not known. */
  passed: number | null;
  /** "resets 07:40, in 2h 25m"; "" when that is not known. */
  reset: string;
  tone: "calm" | "need" | "held";
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** How long a kind of window is; null: not known. */
export function lengthOf(kind: string): number | null {
  if (kind.startsWith("five_hour")) return 5 * HOUR;
  if (kind.startsWith("seven_day")) return 7 * DAY;
  if (kind.startsWith("month")) return 30 * DAY;
  return null;
}

/** "5 hours", "Week", "Week, opus": the name of a kind of window. */
export function titleOf(kind: string): string {
  const [head, rest] = kind.startsWith("five_hour") ? ["5 hours", kind.slice(9)] : kind.startsWith("seven_day") ? ["Week", kind.slice(9)] : ["", kind];
  const more = oneLine(rest.replace(/_/g, " "));
  if (head === "") return more.charAt(0).toUpperCase() + more.slice(1);
  return more === "" ? head : `${head}, ${more}`;
}

/** "07:40, in 2h 25m" of today, "Mon 09:00, in 2 d" of a later day. */
export function when(at: string, now: number): string {
  const far = Date.parse(at) - now;
  if (far <= 0) return "now";
  const day = new Date(at).toDateString() === new Date(now).toDateString() ? "" : `${new Date(at).toLocaleDateString("en-GB", { weekday: "short" })} `;
  return `${day}${clockTime(at)}, in ${span(far)}`;
}

/** How a window stands. Use beyond the time that has passed is too fast. A window that has begun anew is empty. */
export function barOf(window: UsageWindow, now: number): WindowBar {
  const resetsAt = window.resetsAt ?? null;
  const over = resetsAt !== null && Date.parse(resetsAt) <= now;
  const used = over ? 0 : Math.max(0, Math.min(100, Math.round(window.usedPercent)));
  const length = lengthOf(window.kind);
  const passed = resetsAt === null || over || length === null ? null : Math.max(0, Math.min(100, 100 - ((Date.parse(resetsAt) - now) / length) * 100));
  const full = used >= 100;
  return {
    title: titleOf(window.kind),
    used,
    passed,
    reset: resetsAt === null ? "" : over ? "has begun anew" : `${full ? "back" : "resets"} ${when(resetsAt, now)}`,
    tone: full ? "held" : passed !== null && used > passed && used >= 75 ? "need" : "calm",
  };
}

/** The short windows of an account, and the long ones. A window of unknown length is a long one. */
export function windowsOf(account: AccountView, now: number): { short: WindowBar[]; long: WindowBar[] } {
  const parts = { short: [] as WindowBar[], long: [] as WindowBar[] };
  for (const window of account.usage ?? []) {
    const length = lengthOf(window.kind);
    parts[length !== null && length < DAY ? "short" : "long"].push(barOf(window, now));
  }
  return parts;
}

/** How an account stands, what matters most first. */
export function standOf(account: AccountView, now: number): Mark {
  if (account.invalid) return { icon: "s-error", word: "Cannot be used", tone: "text-fail", text: "text-fail" };
  if (account.notLoggedIn) return { icon: "s-error", word: "Not logged in", tone: "text-fail", text: "text-fail" };
  if (account.draining) return { icon: "s-parked", word: "Goes with its last agent", tone: "text-held", text: "text-held" };
  if (!account.enabled) return { icon: "s-stopped", word: "Off", tone: "text-ink-3", text: "text-ink-2" };
  if (account.exhaustedUntil && Date.parse(account.exhaustedUntil) > now) return { icon: "s-limit", word: "At its limit", tone: "text-held", text: "text-held" };
  const agents = account.agents?.length ?? 0;
  if (agents > 0) return { icon: "s-run4", word: agents === 1 ? "1 agent" : `${agents} agents`, tone: "text-work", text: "text-ink-2" };
  return { icon: "s-ready", word: "Free", tone: "text-ink-3", text: "text-ink-2" };
}

const kinds: Record<string, string> = { own: "login of the CLI itself", token: "long-lived token", login: "login of its own", key: "API key, pay per use" };

/** "claude/work": the name of an account where several providers are shown. */
export function nameOf(account: Pick<AccountView, "provider" | "name">): string {
  return `${account.provider}/${account.name}`;
}

/** What credentials it has, in words. */
export function kindOf(account: Pick<AccountView, "kind">): string {
  return kinds[account.kind] ?? account.kind;
}
