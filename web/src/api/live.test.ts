import { QueryClient } from "@tanstack/react-query";
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
