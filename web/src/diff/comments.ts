import { Store } from "../lib/store";

/** A remark on a line, kept in this browser until it is sent. */
export interface Comment {
  id: string;
  path: string;
  side: "old" | "new";
  line: number;
  /** The line as it was when the remark was written. */
  quote: string;
  text: string;
}

/** The remarks on one diff, kept in the browser's storage. */
export class Comments {
  readonly all: Store<Comment[]>;
  /** What is being written, by the remark's id: a remark that scrolls out of sight loses nothing. */
  readonly drafts = new Map<string, string>();

  constructor(
    private readonly storage: Storage,
    private readonly key: string,
  ) {
    this.all = new Store(read(storage, key));
  }

  /** Adds one. */
  add(comment: Omit<Comment, "id">): void {
    this.set([...this.all.get(), { ...comment, id: crypto.randomUUID() }]);
  }

  edit(id: string, text: string): void {
    this.set(this.all.get().map((one) => (one.id === id ? { ...one, text } : one)));
  }

  remove(id: string): void {
    this.set(this.all.get().filter((one) => one.id !== id));
  }

  /** Takes away those that were sent. */
  sent(ids: readonly string[]): void {
    this.set(this.all.get().filter((one) => !ids.includes(one.id)));
  }

  private set(all: Comment[]): void {
    if (all.length === 0) this.storage.removeItem(this.key);
    else this.storage.setItem(this.key, JSON.stringify(all));
    this.all.set(all);
  }
}

function read(storage: Storage, key: string): Comment[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(key) ?? "[]");
    return Array.isArray(kept) ? (kept as Comment[]) : [];
  } catch {
    return [];
  }
}

/** What the agent is told: the remarks in the order of the files, each with its place and its line. */
export function promptOf(comments: Comment[], head: string): string {
  const sorted = [...comments].sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  const parts = sorted.map((one) => `${one.path}:${one.line}${one.side === "old" ? " (a line that was removed)" : ""}\n> ${one.quote.trim()}\n${one.text.trim()}`);
  const many = sorted.length === 1 ? "one remark" : `${sorted.length} remarks`;
  return `A person read your changes${head === "" ? "" : ` up to ${head.slice(0, 10)}`} and has ${many}. Deal with each of them, or say why not.\n\n${parts.join("\n\n")}\n`;
}
