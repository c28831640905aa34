import type { Store } from "../lib/store";
import type { Client } from "./client";
import { Problem } from "./problem";
import { FrameReader, type Frame } from "./sse";

/** How a stream stands. */
export type StreamState =
  | { kind: "connecting" }
  | { kind: "live" }
  /** Let go by this page itself, until it is awake again. */
  | { kind: "resting" }
  | { kind: "lost"; since: number; nextTry: number; stranger: boolean }
  /** It does not go on: it is whole, or was refused for good. */
  | { kind: "ended"; why: Problem | null };

export interface StreamOptions {
  client: Client;
  /** The address without the place to begin at. */
  url: string;
  /** The id after which it begins; null: where the address says. */
  after: string | null;
  onFrame: (frame: Frame) => void;
  /** The place that was reached: what a connection begins with after this one. */
  onPlace?: (id: string) => void;
  onState: (state: StreamState) => void;
  /**
   * The place is no longer kept, or was never given by this daemon: what was
   * read is to be read anew. The stream goes on where the address says.
   */
  onGone?: () => void;
  signal: AbortSignal;
  /** While it is false no connection is held, and the stream rests. */
  awake?: Store<boolean>;
  /** Waits, for tests. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Signs of life come every 15 s; after this long without any the connection is taken for dead. */
const SILENCE = 40_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

/** Waits, or ends early when the signal says so or the machine is back on a network. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

/** Waits until it is true, or the signal ends it. */
function until(store: Store<boolean>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!store.get() && !signal.aborted) return;
      forget();
      signal.removeEventListener("abort", look);
      resolve();
    };
    const forget = store.subscribe(look);
    signal.addEventListener("abort", look);
  });
}

/** Refusals that pass: a full house, a daemon that is ending, a bug that the next try may not meet. */
const passing = new Set(["internal", "too_many", "unreachable", "timeout", "interrupted"]);
const passes = (problem: Problem): boolean => problem.status === 0 || problem.status >= 500 || passing.has(problem.code);

/** Refusals of a place: too long ago, or of another time, as numbers go back when a backup is restored. */
const misplaced = new Set(["gone", "invalid"]);

/**
 * Follows a stream until the signal ends it, the daemon says that it is whole,
 * or refuses it for good. It comes back by itself, with the id of the last
 * frame, so nothing is left out and nothing comes twice.
 */
export async function follow(options: StreamOptions): Promise<void> {
  const { signal, onState, awake, wait = pause } = options;
  let after = options.after;
  let lostSince: number | null = null;
  let delay = FIRST_WAIT;
  /** The daemon answered that it cannot: it is not asked more often because it can be reached. */
  let failed = false;
  onState({ kind: "connecting" });
  while (!signal.aborted) {
    let stranger = false;
    if (awake?.get() === false) {
      onState({ kind: "resting" });
      await until(awake, signal);
      if (signal.aborted) return;
      lostSince = null;
      delay = FIRST_WAIT;
      onState({ kind: "connecting" });
    }
    try {
      const how = await readOnce(options, after, (frame) => {
        if (frame.id === null) return;
        after = frame.id;
        options.onPlace?.(after);
      }, () => {
        lostSince = null;
        if (!failed) delay = FIRST_WAIT;
        onState({ kind: "live" });
      });
      if (how === "whole") return onState({ kind: "ended", why: null });
      if (how === "rested") continue;
      failed = false;
    } catch (error) {
      if (signal.aborted) return;
      failed = error instanceof Problem;
      if (error instanceof Problem && !passes(error)) {
        if (after === null || !options.onGone || !misplaced.has(error.code)) return onState({ kind: "ended", why: error });
        onState({ kind: "connecting" });
        await wait(delay, signal);
        if (signal.aborted) return;
        after = null;
        options.onGone();
        continue;
      }
      stranger = error instanceof Problem && error.code === "stranger";
    }
    if (signal.aborted) return;
    options.client.trust.doubt();
    lostSince ??= Date.now();
    onState({ kind: "lost", since: lostSince, nextTry: Date.now() + delay, stranger });
    await wait(delay, signal);
    delay = Math.min(delay * 2, LONGEST_WAIT);
  }
}

/** Reads one connection until the stream is whole, the connection ends, or the page lets it go. */
async function readOnce(options: StreamOptions, after: string | null, note: (frame: Frame) => void, opened: () => void): Promise<"whole" | "broken" | "rested"> {
  const connection = new AbortController();
  const end = () => connection.abort();
  options.signal.addEventListener("abort", end);
  let rested = false;
  const forget = options.awake?.subscribe(() => {
    rested = true; // it was awake when it began
    end();
  });
  let silence = setTimeout(end, SILENCE);
  try {
    const headers = after === null ? undefined : { "Last-Event-ID": after };
    const response = await options.client.open(options.url, { headers, signal: connection.signal });
    opened();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const frames = new FrameReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return "broken";
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE);
      for (const frame of frames.push(value)) {
        if (frame.event === "end") return "whole";
        if (frame.event === "failure") throw failureOf(frame);
        note(frame);
        if (frame.event === "") options.onFrame(frame);
      }
    }
  } catch (error) {
    if (rested) return "rested";
    throw error;
  } finally {
    clearTimeout(silence);
    forget?.();
    options.signal.removeEventListener("abort", end);
    connection.abort();
  }
}

/** What a stream that failed after its start says: its answer had begun with 200 by then. */
function failureOf(frame: Frame): Problem {
  const said = JSON.parse(frame.data) as { code?: string; message?: string; hint?: string };
  return new Problem(200, said.code ?? "failed", said.message ?? "The stream failed.", said.hint);
}
