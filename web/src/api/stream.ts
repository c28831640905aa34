import type { Client } from "./client";
import { Problem } from "./problem";
import { FrameReader, type Frame } from "./sse";

/** How a stream stands. */
export type StreamState =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "lost"; since: number; nextTry: number; stranger: boolean }
  | { kind: "ended" };

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
  /** The place is no longer kept (410): what was read is to be read anew. It gives the id to go on after. */
  onGone?: () => string | null;
  signal: AbortSignal;
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

/**
 * Follows a stream until the signal ends it or the daemon says that it is
 * whole. It comes back by itself, with the id of the last frame, so nothing is
 * left out and nothing comes twice. A refusal (4xx) ends it.
 */
export async function follow(options: StreamOptions): Promise<void> {
  const wait = options.wait ?? pause;
  let after = options.after;
  let lostSince: number | null = null;
  let delay = FIRST_WAIT;
  options.onState({ kind: "connecting" });
  while (!options.signal.aborted) {
    let stranger = false;
    try {
      const ended = await readOnce(options, after, (frame) => {
        if (frame.id === null) return;
        after = frame.id;
        options.onPlace?.(after);
      }, () => {
        lostSince = null;
        delay = FIRST_WAIT;
        options.onState({ kind: "live" });
      });
      if (ended) return options.onState({ kind: "ended" });
    } catch (error) {
      if (options.signal.aborted) return;
      if (error instanceof Problem && error.status === 410 && options.onGone) {
        after = options.onGone();
        continue;
      }
      stranger = error instanceof Problem && error.code === "stranger";
      // A full house (429) and a daemon that is ending (503) are worth another try.
      if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
    }
    if (options.signal.aborted) return;
    options.client.trust.doubt();
    lostSince ??= Date.now();
    options.onState({ kind: "lost", since: lostSince, nextTry: Date.now() + delay, stranger });
    await wait(delay, options.signal);
    delay = Math.min(delay * 2, LONGEST_WAIT);
  }
}

/** Reads one connection to its end. true: the stream is whole. */
async function readOnce(options: StreamOptions, after: string | null, note: (frame: Frame) => void, opened: () => void): Promise<boolean> {
  const connection = new AbortController();
  const end = () => connection.abort();
  options.signal.addEventListener("abort", end);
  let silence = setTimeout(end, SILENCE);
  try {
    const headers = after === null ? undefined : { "Last-Event-ID": after };
    const response = await options.client.open(options.url, { headers, signal: connection.signal });
    opened();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const frames = new FrameReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE);
      for (const frame of frames.push(value)) {
        if (frame.event === "end") return true;
        if (frame.event === "failure") throw failureOf(frame);
        note(frame);
        if (frame.event === "") options.onFrame(frame);
      }
    }
  } finally {
    clearTimeout(silence);
    options.signal.removeEventListener("abort", end);
    connection.abort();
  }
}

/** A stream that failed after its start fails again, so it is a refusal. */
function failureOf(frame: Frame): Problem {
  const said = JSON.parse(frame.data) as { code?: string; message?: string; hint?: string };
  return new Problem(400, said.code ?? "failed", said.message ?? "The stream failed.", said.hint);
}
