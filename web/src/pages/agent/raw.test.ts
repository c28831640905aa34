import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../../api/client";
import { Session } from "../../api/session";
import { LONGEST_LINE, PIECE, RawReader } from "./raw";

/** A daemon that keeps a run's output in chunks of 4096 bytes, and gives them whole. */
class Daemon {
  private stream: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(private text: string) {}

  answer = (url: string): Promise<Response> => {
    const query = new URL(url, "http://cw").searchParams;
    if (url.includes("/output/page")) return Promise.resolve(Response.json({ items: [{ position: `1:${this.text.length}:0` }], runs: [] }));
    const from = Math.floor(Number(query.get("offset")) / 4096) * 4096;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let at = from; at < this.text.length; at += 4096) controller.enqueue(frame(at, this.text.slice(at, at + 4096)));
        if (query.get("until") === "closed") this.stream = controller;
        else controller.close();
      },
    });
    return Promise.resolve(new Response(body));
  };

  /** The CLI writes more. */
  write(text: string): void {
    this.stream?.enqueue(frame(this.text.length, text));
    this.text += text;
  }
}

const frame = (offset: number, text: string) => new TextEncoder().encode(`data: ${JSON.stringify({ offset, bytes: btoa(text) })}\n\n`);
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `line ${String(from + i).padStart(6, "0")}`);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function reading(text: string) {
  const daemon = new Daemon(text);
  vi.stubGlobal("fetch", daemon.answer);
  const reader = new RawReader(new Client(new Session(localStorage)), "otter", 1);
  void reader.run();
  await vi.advanceTimersByTimeAsync(200);
  return { daemon, reader, held: () => reader.state.get().lines.filter((line) => line !== "") };
}

test("pieces join without a gap or a double, also where chunks begin before a piece", async () => {
  const all = lines(0, 40_000);
  const { reader, held } = await reading(`${all.join("\n")}\n`);
  expect(held().length * 12).toBeGreaterThan(PIECE - 4096);
  for (let i = 0; i < 3 && reader.state.get().older; i++) await reader.older();
  expect(held()).toEqual(all);
  reader.close();
});

test("no more is held than the bound, and what was let go is not joined on at the wrong place", async () => {
  const { daemon, reader, held } = await reading(`${lines(0, 40_000).join("\n")}\n`);
  for (let from = 40_000; from < 100_000; from += 10_000) {
    daemon.write(`${lines(from, from + 10_000).join("\n")}\n`);
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(held().length).toBeLessThanOrEqual(50_000);
  expect(reader.state.get().older).toBe(false);
  await reader.older();
  expect(held()).toEqual(lines(100_000 - held().length, 100_000));
  reader.close();
});

test("a few long lines are bounded, too", { timeout: 30_000 }, async () => {
  const { daemon, reader, held } = await reading("");
  for (let i = 0; i < 28; i++) {
    daemon.write(`${"x".repeat(LONGEST_LINE)}\n`);
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(held().length).toBeLessThanOrEqual(24);
  expect(held().length).toBeGreaterThan(16);
  expect(held().every((line) => line.length === LONGEST_LINE)).toBe(true);
  reader.close();
});

test("a line without an end is cut, and what comes after it is whole", { timeout: 30_000 }, async () => {
  const { daemon, reader, held } = await reading("before\n");
  for (let i = 0; i < 6; i++) {
    daemon.write("x".repeat(400_000));
    await vi.advanceTimersByTimeAsync(200);
  }
  daemon.write("\nafter\n");
  await vi.advanceTimersByTimeAsync(200);
  const [first, long = "", last] = held();
  expect([first, last]).toEqual(["before", "after"]);
  expect(long.replace(/^x+/, "")).toBe(" … the rest of this line is left out");
  expect(long.length).toBeLessThan(LONGEST_LINE + 100);
  reader.close();
});
