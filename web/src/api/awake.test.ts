import { afterEach, expect, test, vi } from "vitest";
import { keepsEvents, visible } from "./awake";

/** A browser's locks, of all its tabs: the one that has it, and who waits. */
class Locks {
  private readonly waiting: (() => void)[] = [];
  private taken = false;

  request = (_: string, { signal }: { signal: AbortSignal }, hold: () => Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const turn = () => {
        if (signal.aborted) return this.next();
        this.taken = true;
        void hold().then(() => {
          resolve();
          this.next();
        });
      };
      signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      this.waiting.push(turn);
      if (!this.taken) this.next();
    });

  private next(): void {
    this.taken = false;
    this.waiting.shift()?.();
  }
}

function look(state: DocumentVisibilityState): void {
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
  document.dispatchEvent(new Event("visibilitychange"));
}

afterEach(() => {
  look("visible");
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("of hidden tabs one keeps its stream, and another after it", async () => {
  vi.stubGlobal("navigator", { locks: new Locks() });
  const [one, two] = [new AbortController(), new AbortController()];
  const [first, second] = [keepsEvents(one.signal), keepsEvents(two.signal)];
  expect([first.get(), second.get()]).toEqual([true, true]);
  look("hidden");
  expect(visible.get()).toBe(false);
  expect([first.get(), second.get()]).toEqual([true, false]);
  one.abort();
  await vi.waitFor(() => expect(second.get()).toBe(true));
  two.abort();
});

test("who ends before its turn never has it", async () => {
  vi.stubGlobal("navigator", { locks: new Locks() });
  const ends = [new AbortController(), new AbortController(), new AbortController()];
  const [, second, third] = ends.map((end) => keepsEvents(end.signal));
  look("hidden");
  ends[1]?.abort();
  ends[0]?.abort();
  await vi.waitFor(() => expect(third?.get()).toBe(true));
  expect(second?.get()).toBe(false);
  ends[2]?.abort();
});

test("without locks each tab keeps its stream", () => {
  vi.stubGlobal("navigator", {});
  const awake = keepsEvents(new AbortController().signal);
  look("hidden");
  expect(awake.get()).toBe(true);
});
