import { afterEach, expect, test, vi } from "vitest";
import { address, Client } from "./client";
import { codeIn, Session } from "./session";

afterEach(() => vi.unstubAllGlobals());

test.each([
  ["/v1/agents/{id}", { id: "a b/../c" }, undefined, "/v1/agents/a%20b%2F..%2Fc"],
  ["/v1/agents", undefined, { limit: 5, cursor: undefined, status: "" }, "/v1/agents?limit=5"],
  ["/v1/agents", undefined, {}, "/v1/agents"],
])("address %s", (path, parameters, query, want) => {
  expect(address(path, parameters, query)).toBe(want);
});

test.each([
  ["#code=abc-1_2", "abc-1_2"],
  ["#other=1", null],
  ["", null],
])("code in %s", (hash, want) => {
  expect(codeIn(hash)).toBe(want);
});

test("an order that is given twice at once is sent once, and again when it is done; another one is sent beside it", async () => {
  const bodies: unknown[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    bodies.push(JSON.parse(init.body as string));
    return Promise.resolve(new Response("{}"));
  });
  const client = new Client(new Session(localStorage));
  const say = (text: string) => client.post("/v1/agents/{id}/messages", { path: { id: "a" }, body: { text } });
  await Promise.all([say("one"), say("one"), say("two")]);
  await say("one");
  expect(bodies).toEqual([{ text: "one" }, { text: "two" }, { text: "one" }]);
});

test("the daemon's clock is known by its last answer; an answer without a date changes nothing", async () => {
  vi.useFakeTimers({ now: Date.parse("2026-01-02T03:04:05.400Z") });
  const dates = ["Fri, 02 Jan 2026 03:04:12 GMT", null];
  vi.stubGlobal("fetch", () => {
    const date = dates.shift();
    return Promise.resolve(new Response("{}", { headers: date ? { Date: date } : {} }));
  });
  const client = new Client(new Session(localStorage));
  await client.get("/v1/status");
  await client.get("/v1/status");
  expect(client.clockAhead).toBe(7100);
  vi.useRealTimers();
});
