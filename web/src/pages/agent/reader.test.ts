import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../../api/client";
import { Session } from "../../api/session";
import { MOST_ITEMS } from "./conversation";
import type { OutputEvent, OutputPage } from "./output";
import { Reader } from "./reader";

/** A daemon with an agent that said this much; pages hold 300, and the stream goes on with what is added. */
class Daemon {
  readonly asked: string[] = [];
  private stream: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(private length: number) {}

  private event(n: number): OutputEvent {
    return { position: `1:${n * 10}:0`, chunkId: n + 1, session: 1, at: new Date(n * 1000).toISOString(), event: { kind: "tool_call", toolUseId: `${n}`, tool: "Bash" } };
  }

  answer = (url: string, init: RequestInit): Promise<Response> => {
    this.asked.push(`${url}${new Headers(init.headers).get("Last-Event-ID") ?? ""}`);
    const query = new URL(url, "http://cw").searchParams;
    if (url.includes("/output/page")) return Promise.resolve(Response.json(this.page(query.get("before"), query.get("after"))));
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.stream = controller) });
    init.signal?.addEventListener("abort", () => (this.stream = null));
    return Promise.resolve(new Response(body));
  };

  private page(before: string | null, after: string | null): OutputPage {
    const at = (place: string) => Number(place.split(":")[1] ?? -1) / 10;
    const from = after !== null ? at(after) + 1 : Math.max(0, (before === null ? this.length : at(before)) - 300);
    const to = after !== null ? Math.min(this.length, from + 300) : before === null ? this.length : at(before);
    const items = Array.from({ length: Math.max(0, to - from) }, (_, i) => this.event(from + i));
    const end = to === this.length ? { stream: this.length } : {};
    return { items, runs: [], ...(from > 0 ? { older: `1:${from * 10}:0` } : {}), newer: `1:${(to - 1) * 10}:0`, ...(before === null ? end : {}) };
  }

  /** The agent says more; the stream tells it, and the last one of before once more. */
  say(count: number): void {
    const events = Array.from({ length: count + 1 }, (_, i) => this.event(this.length - 1 + i));
    this.length += count;
    this.stream?.enqueue(new TextEncoder().encode(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")));
  }

  /** The stream fails after its start. */
  fail(code: string): void {
    this.stream?.enqueue(new TextEncoder().encode(`event: failure\ndata: {"code":"${code}","message":"no"}\n\n`));
  }

  get followed(): boolean {
    return this.stream !== null;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setUp(length: number, mayForget = () => true): { daemon: Daemon; reader: Reader } {
  const daemon = new Daemon(length);
  vi.stubGlobal("fetch", daemon.answer);
  return { daemon, reader: new Reader(new Client(new Session(localStorage)), "otter", mayForget) };
}

const held = (reader: Reader) => reader.conversation.items.map((item) => Number(item.first.split(":")[1]) / 10);
const span = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test("the end is read first, older pages when asked for, and the stream joins without gap or double", async () => {
  const { daemon, reader } = setUp(1000);
  await reader.start();
  expect(held(reader)).toEqual(span(700, 1000));
  await vi.waitFor(() => expect(daemon.followed).toBe(true));
  expect(daemon.asked.at(-1)).toBe("/v1/agents/otter/output?format=events&until=closed1000");
  daemon.say(5);
  await vi.advanceTimersByTimeAsync(200);
  expect(held(reader)).toEqual(span(700, 1005));
  for (let i = 0; i < 5; i++) await reader.loadOlder();
  expect(held(reader)).toEqual(span(0, 1005));
  expect(reader.state.get().older).toBe(false);
  reader.close();
  expect(daemon.followed).toBe(false);
});

test("far back the end is let go, and read again on the way down", async () => {
  const { daemon, reader } = setUp(20_000);
  await reader.start();
  while (reader.state.get().attached) await reader.loadOlder();
  expect(held(reader).length).toBeLessThanOrEqual(MOST_ITEMS);
  expect(daemon.followed).toBe(false);
  daemon.say(7);
  for (let i = 0; i < 20 && !reader.state.get().attached; i++) await reader.loadNewer();
  const now = held(reader);
  expect(now).toEqual(span(now[0] as number, 20_007));
  await vi.waitFor(() => expect(daemon.followed).toBe(true));
  reader.close();
});

test("what is new waits while somebody reads what is old", async () => {
  const { daemon, reader } = setUp(1000, () => false);
  await reader.start();
  await vi.waitFor(() => expect(daemon.followed).toBe(true));
  const first = held(reader)[0];
  daemon.say(MOST_ITEMS);
  await vi.advanceTimersByTimeAsync(200);
  expect(held(reader)[0]).toBe(first);
  expect(held(reader).length).toBeLessThanOrEqual(MOST_ITEMS);
  expect(reader.state.get().attached).toBe(false);
  reader.close();
});

test("a jump goes to a place, with what is before it a page away", async () => {
  const { reader } = setUp(1000);
  await reader.start();
  await reader.jump("1:2990:0");
  expect(held(reader)).toEqual(span(300, 600));
  await reader.loadOlder();
  expect(held(reader)).toEqual(span(0, 600));
  reader.close();
});

test("output that is no longer kept is told as that", async () => {
  const { reader } = setUp(0);
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ code: "gone", message: "gone" }, { status: 410 })));
  await reader.start();
  expect(reader.state.get()).toMatchObject({ gone: true, error: null });
  reader.close();
});

test("a stream whose place is gone: the end is read anew, and followed", async () => {
  const { daemon, reader } = setUp(1000);
  await reader.start();
  await vi.waitFor(() => expect(daemon.followed).toBe(true));
  daemon.fail("gone");
  await vi.advanceTimersByTimeAsync(0);
  daemon.say(5); // nobody hears it
  await vi.advanceTimersByTimeAsync(1000);
  expect(held(reader)).toEqual(span(705, 1005));
  expect(daemon.followed).toBe(true);
  expect(reader.state.get()).toMatchObject({ attached: true, error: null, stream: "live" });
  reader.close();
});

test("a stream that is refused for good is told", async () => {
  const { daemon, reader } = setUp(1000);
  await reader.start();
  await vi.waitFor(() => expect(daemon.followed).toBe(true));
  daemon.fail("forbidden");
  await vi.advanceTimersByTimeAsync(0);
  expect(reader.state.get()).toMatchObject({ stream: "ended", error: { code: "forbidden" } });
  reader.close();
});
