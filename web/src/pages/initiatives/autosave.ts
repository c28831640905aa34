import { Problem } from "../../api/problem";
import { Store } from "../../lib/store";

/** What somebody wrote, and at which revision of the page. */
export interface Draft<T> {
  revision: number;
  content: T;
}

/** Where a page is kept. */
export interface Keeper<T> {
  /** Stores a text that was made from this revision, and gives the new revision. Problem when it is refused. */
  save: (draft: Draft<T>) => Promise<number>;
  /** The page as it is now. */
  load: () => Promise<Draft<T> & { by: string }>;
}

export type SaveState<T> =
  | { kind: "saved"; at: number | null }
  | { kind: "changed" }
  | { kind: "saving" }
  /** The daemon does not answer; the text is kept here. */
  | { kind: "kept" }
  /** Somebody else changed the page meanwhile. */
  | { kind: "conflict"; theirs: Draft<T> & { by: string } }
  | { kind: "failed"; error: unknown };

/** So long after the last key a text is stored, and so long it waits for a daemon that does not answer. */
const PAUSE = 800;
const AGAIN = 5000;

/**
 * Autosave stores a page while it is written: one request at a time, each from
 * the revision that the one before gave. What is not stored yet lies in the
 * session's storage, so that neither a lost connection nor a reload loses it.
 * Somebody else's change is never written over: it becomes a conflict, which a
 * person ends.
 */
export class Autosave<T> {
  readonly state: Store<SaveState<T>>;
  /** The text that is not stored yet; null: everything is. */
  private draft: T | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private running: Promise<void> | null = null;

  constructor(
    private revision: number,
    private readonly keeper: Keeper<T>,
    private readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">,
    private readonly key: string,
  ) {
    this.state = new Store<SaveState<T>>({ kind: "saved", at: null });
  }

  /** The text that was not stored when the page was left; it is stored now, or becomes a conflict. */
  takeUp(): T | null {
    const kept = this.kept();
    if (!kept) return null;
    this.revision = kept.revision;
    this.edit(kept.content);
    return kept.content;
  }

  /** Whether something is not stored yet. */
  get pending(): boolean {
    return this.draft !== null;
  }

  /** The revision that the text is made from. */
  get base(): number {
    return this.revision;
  }

  /** The page was read anew, and nothing was written here: it goes on from there. */
  follow(revision: number): void {
    if (!this.pending && revision > this.revision) this.revision = revision;
  }

  edit(content: T): void {
    this.draft = content;
    this.keep();
    if (this.state.get().kind === "conflict") return;
    if (this.state.get().kind !== "saving") this.state.set({ kind: "changed" });
    this.later(PAUSE);
  }

  /** Stores what is not stored, at once. */
  async flush(): Promise<void> {
    this.stop();
    while (this.running) await this.running;
    if (this.draft === null || this.state.get().kind === "conflict") return;
    this.running = this.store(this.draft).finally(() => (this.running = null));
    await this.running;
  }

  /** Ends a conflict with the text that was written here. */
  async keepMine(): Promise<void> {
    const state = this.state.get();
    if (state.kind !== "conflict") return;
    this.revision = state.theirs.revision;
    this.state.set({ kind: "changed" });
    this.keep();
    await this.flush();
  }

  /** Ends a conflict with the other text, and gives it. */
  takeTheirs(): T | null {
    const state = this.state.get();
    if (state.kind !== "conflict") return null;
    this.revision = state.theirs.revision;
    this.done();
    return state.theirs.content;
  }

  /** What was written is in the storage; the page may be left. */
  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private later(ms: number): void {
    this.stop();
    this.timer = setTimeout(() => void this.flush(), ms);
  }

  private async store(content: T): Promise<void> {
    this.state.set({ kind: "saving" });
    try {
      this.revision = await this.keeper.save({ revision: this.revision, content });
      if (this.draft === content) this.done();
      else this.keep();
    } catch (error) {
      await this.refused(error);
    }
  }

  /** A refusal is a conflict when the page is another one by now. */
  private async refused(error: unknown): Promise<void> {
    if (error instanceof Problem && error.status === 0) {
      this.state.set({ kind: "kept" });
      return this.later(AGAIN);
    }
    try {
      const theirs = await this.keeper.load();
      this.state.set(theirs.revision !== this.revision ? { kind: "conflict", theirs } : { kind: "failed", error });
    } catch {
      this.state.set({ kind: "failed", error });
    }
  }

  private done(): void {
    this.draft = null;
    this.storage.removeItem(this.key);
    this.state.set({ kind: "saved", at: Date.now() });
  }

  private keep(): void {
    try {
      this.storage.setItem(this.key, JSON.stringify({ revision: this.revision, content: this.draft }));
    } catch {
      // The storage is full: the text is on the page still.
    }
  }

  private kept(): Draft<T> | null {
    const text = this.storage.getItem(this.key);
    return text === null ? null : (JSON.parse(text) as Draft<T>);
  }
}
