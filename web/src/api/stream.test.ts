import { afterEach, expect, test, vi } from "vitest";
import { Store } from "../lib/store";
import { Client } from "./client";
import type { Problem } from "./problem";
import { Session } from "./session";
import { follow, type StreamState } from "./stream";

const answers: (() => Response)[] = [];
const asked: (string | null)[] = [];
const signals: AbortSignal[] = [];

afterEach(() => {
  answers.length = 0;
  asked.length = 0;
  signals.length = 0;
  vi.unstubAllGlobals();
});

/** A daemon that gives these answers, one for each connection, and then none. */
function daemon(...given: (() => Response)[]) {
  answers.push(...given);
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers).get("Last-Event-ID"));
    if (init.signal) signals.push(init.signal);
    const answer = answers.shift();
    return answer ? Promise.resolve(answer()) : Promise.reject(new TypeError("refused"));
  });
}

const frames = (text: string) => () => new Response(text);
const refused = (status: number, code: string) => () => new Response(JSON.stringify({ code, message: "no", hint: "" }), { status });
const failure = (code: string) => `event: failure\ndata: {"code":"${code}","message":"no"}\n\n`;

async function run(after: string | null = null, { awake, trust }: { awake?: Store<boolean>; trust?: Client["trust"] } = {}) {
  const got: string[] = [];
  const states: StreamState["kind"][] = [];
  const waits: number[] = [];
  let why: Problem | null = null;
  let gone = 0;
  await follow({
    client: new Client(new Session(localStorage), trust),
    url: "/v1/events",
    after,
    signal: new AbortController().signal,
    ...(awake ? { awake } : {}),
    onFrame: (frame) => got.push(frame.data),
    onState: (state) => {
      states.push(state.kind);
      if (state.kind === "ended") why = state.why;
    },
    onGone: () => void gone++,
    wait: (ms) => Promise.resolve(void waits.push(ms)),
  });
  return { got, states, gone, waits, why };
}

const end = 'event: end\ndata: {"reason":"done"}\n\n';

test("comes back with the last number, so that nothing is missing and nothing comes twice", async () => {
  daemon(frames("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: cut"), () => { throw new TypeError("down"); }, frames(`id: 3\ndata: c\n\n${end}`));
  const { got, states } = await run();
  expect(got).toEqual(["a", "b", "c"]);
  expect(asked).toEqual([null, "2", "2"]);
  expect(states).toEqual(["connecting", "live", "lost", "lost", "live", "ended"]);
});

test("a mark moves the place without being an event", async () => {
  daemon(frames("event: mark\nid: 41\ndata: {}\n\n"), frames(end));
  const { got } = await run();
  expect(got).toEqual([]);
  expect(asked).toEqual([null, "41"]);
});

test.each([
  ["in the answer", refused(410, "gone")],
  ["in a frame", frames(failure("gone"))],
  ["of a number that was never given", refused(400, "invalid")],
  ["of such a number, in a frame", frames(failure("invalid"))],
])("a place that is no longer there, %s: what was read is read anew", async (_, refusal) => {
  daemon(refusal, frames(end));
  const { gone, states } = await run("5");
  expect(gone).toBe(1);
  expect(asked).toEqual(["5", null]);
  expect(states.slice(-3)).toEqual(["connecting", "live", "ended"]);
});

test("without a place there is none to give up", async () => {
  daemon(refused(400, "invalid"));
  const { gone, why } = await run();
  expect(gone).toBe(0);
  expect(why).toMatchObject({ code: "invalid" });
});

test.each([
  ["in the answer", refused(403, "forbidden")],
  ["in a frame", frames(failure("forbidden"))],
])("a refusal %s ends it, and says why", async (_, refusal) => {
  daemon(refusal);
  const { states, why } = await run("5");
  expect(states.at(-1)).toBe("ended");
  expect(why).toMatchObject({ code: "forbidden", message: "no" });
  expect(asked).toHaveLength(1);
});

test("a daemon that is ending or full is asked again", async () => {
  daemon(refused(503, "unreachable"), refused(429, "too_many"), frames(end));
  const { why } = await run();
  expect(why).toBeNull();
  expect(asked).toHaveLength(3);
});

test("a bug is asked again, and more seldom each time, also when the stream begins", async () => {
  daemon(...Array.from({ length: 7 }, () => frames(`event: mark\nid: 7\ndata: {}\n\n${failure("internal")}`)), frames(end));
  const { waits, states } = await run();
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  expect(states.at(-1)).toBe("ended");
  expect(asked.at(-1)).toBe("7");
});

test("who rests holds no connection, and goes on where it was", async () => {
  const awake = new Store(true);
  daemon(() => {
    const signal = signals.at(-1);
    return new Response(new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode("id: 1\ndata: a\n\n"));
        signal?.addEventListener("abort", () => controller.error(new DOMException("", "AbortError")));
      },
    }));
  }, frames(`id: 2\ndata: b\n\n${end}`));
  const running = run(null, { awake });
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve)); // what came is read
  awake.set(false);
  expect(signals[0]?.aborted).toBe(true);
  await new Promise((resolve) => setTimeout(resolve));
  expect(asked).toHaveLength(1);
  awake.set(true);
  const { got, states } = await running;
  expect(got).toEqual(["a", "b"]);
  expect(asked).toEqual([null, "1"]);
  expect(states).toEqual(["connecting", "live", "resting", "connecting", "live", "ended"]);
});

test("who goes to rest and wakes at once has not lost its connection", async () => {
  const awake = new Store(true);
  daemon(() => {
    const signal = signals.at(-1);
    return new Response(new ReadableStream({ start: (controller) => signal?.addEventListener("abort", () => controller.error(new DOMException("", "AbortError"))) }));
  }, frames(end));
  const running = run("5", { awake });
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve));
  awake.set(false);
  awake.set(true);
  const { states } = await running;
  expect(states).not.toContain("lost");
  expect(asked).toEqual(["5", "5"]);
});

test("a refused token is forgotten", async () => {
  const session = new Session(localStorage);
  session.keep({ id: "old", token: "cwd_old" });
  daemon(refused(401, "unauthorized"));
  const { why } = await run(null, { trust: { token: () => Promise.resolve(session.token), doubt: () => undefined } });
  expect(why).toMatchObject({ status: 401 });
  expect(session.token).toBeNull();
});
