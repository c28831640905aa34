import { FILTERS, showOf, type Filter } from "./rows";

/** A filter with a name, kept in this browser. */
export interface Saved extends Filter {
  name: string;
}

/** The filters that are kept; what cannot be read is none. */
export function savedFilters(storage: Storage): Saved[] {
  try {
    const kept = JSON.parse(storage.getItem(FILTERS) ?? "[]") as unknown;
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((one: Partial<Saved>) =>
      typeof one?.name === "string" ? [{ name: one.name, show: showOf(one.show), find: String(one.find ?? ""), account: String(one.account ?? "") }] : [],
    );
  } catch {
    return [];
  }
}

export function keepFilters(storage: Storage, filters: Saved[]): void {
  storage.setItem(FILTERS, JSON.stringify(filters));
}

/** What a filter is called until somebody says otherwise: "crashed, claude/team-1". */
export function nameFor(filter: Filter): string {
  return [filter.show === "all" ? "" : filter.show, filter.account, filter.find].filter(Boolean).join(", ") || "all";
}
