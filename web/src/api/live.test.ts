import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "./client";
import { Live } from "./live";
import { Session } from "./session";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A daemon that gives these answers to the stream, one after the other, and lets the last one stand. */
function setUp(...answers: (string | Response)[]) {
  const asked: (string | null)[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers).get("Last-Event-ID"));
    const answer = answers.shift() ?? new Response(new ReadableStream());
    return Promise.resolve(typeof answer === "string" ? new Response(answer) : answer);
  });
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const missed = vi.fn();
  const live = new Live(new Client(new Session(localStorage)), queries, missed);
  const end = new AbortController();
  return { asked, queries, missed, live, end, run: () => void live.run(end.signal) };
}

const mark = (id: number) => `event: mark\nid: ${id}\ndata: {}\n\n`;

test("events that are kept no longer: it is said, and everything is read anew", async () => {
  const { asked, queries, missed, live, end, run } = setUp(`${mark(700)}event: failure\ndata: {"code":"gone","message":"no"}\n\n`);
  queries.setQueryData(["agents"], []);
  run();
  await vi.advanceTimersByTimeAsync(0);
  queries.setQueryData(["agents"], []);
  expect(queries.getQueryState(["agents"])?.isInvalidated).toBe(false);
  await vi.advanceTimersByTimeAsync(600);
  expect(missed).toHaveBeenCalledTimes(1);
  expect(asked).toEqual([null, null]);
  expect(live.state.get().kind).toBe("live");
  expect(queries.getQueryState(["agents"])?.isInvalidated).toBe(true);
  end.abort();
});

test("a stream that is refused for good is not called live", async () => {
  const { live, run } = setUp(`${mark(7)}event: failure\ndata: {"code":"forbidden","message":"the token may not do this"}\n\n`);
  run();
  await vi.advanceTimersByTimeAsync(100);
  expect(live.state.get()).toMatchObject({ kind: "ended", why: { message: "the token may not do this" } });
});

function look(state: DocumentVisibilityState): void {
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
  document.dispatchEvent(new Event("visibilitychange"));
}

/** A stream that tells events when the test does. */
function told() {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  let seq = 0;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
  const tell = (type: string) => stream?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ seq: ++seq, type, at: "" })}\n\n`));
  return { answer: new Response(body), tell };
}

/** A read of the diff that takes so long, and how often it began, ended and was broken off. */
function slowDiff(queries: QueryClient, ms: number) {
  const reads = { begun: 0, whole: 0, broken: 0 };
  const observer = new QueryObserver(queries, {
    queryKey: ["diff"],
    queryFn: async ({ signal }) => {
      const n = ++reads.begun;
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (signal.aborted) reads.broken++;
      else reads.whole++;
      return n;
    },
  });
  observer.subscribe(() => undefined);
  return reads;
}

test("steady events break off no read, and a slow one ends again and again", async () => {
  const { answer, tell } = told();
  const { queries, end, run } = setUp(answer);
  const reads = slowDiff(queries, 1500);
  run();
  for (let i = 0; i < 300; i++) {
    tell("merge:queued");
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(reads.broken).toBe(0);
  expect(reads.whole).toBeGreaterThan(15);
  end.abort();
});

test("what became old while it was read is read once more, and then no more", async () => {
  const { answer, tell } = told();
  const { queries, end, run } = setUp(answer);
  run();
  await vi.advanceTimersByTimeAsync(2000);
  const reads = slowDiff(queries, 1500);
  await vi.advanceTimersByTimeAsync(100);
  tell("merge:queued");
  tell("merge:merged");
  await vi.advanceTimersByTimeAsync(1000);
  expect(reads).toEqual({ begun: 1, whole: 0, broken: 0 });
  await vi.advanceTimersByTimeAsync(1000);
  expect(reads).toEqual({ begun: 2, whole: 1, broken: 0 });
  await vi.advanceTimersByTimeAsync(20_000);
  expect(reads).toEqual({ begun: 2, whole: 2, broken: 0 });
  expect(queries.getQueryState(["diff"])).toMatchObject({ isInvalidated: false, data: 2 });
  end.abort();
});

test("a tab that rests hears from one that does not what became old", async () => {
  const channels: BroadcastChannel[] = [];
  vi.stubGlobal("BroadcastChannel", class {
    onmessage: ((message: { data: unknown }) => void) | null = null;
    constructor() {
      channels.push(this as unknown as BroadcastChannel);
    }
    postMessage = (data: unknown) => channels.forEach((one) => one !== (this as unknown) && one.onmessage?.({ data } as MessageEvent));
    close = () => undefined;
  });
  const { answer, tell } = told();
  const { asked, queries, live, end, run } = setUp(answer);
  run();
  await vi.advanceTimersByTimeAsync(2000);
  const resting = new Live(live["client"], queries);
  vi.stubGlobal("navigator", { locks: { request: () => new Promise(() => undefined) } });
  look("hidden");
  void resting.run(end.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(resting.state.get().kind).toBe("resting");
  const anew = vi.spyOn(queries, "invalidateQueries");
  tell("question:requested");
  await vi.advanceTimersByTimeAsync(2000);
  expect(anew).toHaveBeenCalledTimes(2); // one for each of them
  expect(asked).toHaveLength(1);
  end.abort();
  look("visible");
});
