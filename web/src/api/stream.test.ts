import { afterEach, expect, test, vi } from "vitest";
import { Client } from "./client";
import { Problem } from "./problem";
import { Session } from "./session";
import { follow, type StreamState } from "./stream";

const answers: (() => Response)[] = [];
const asked: (string | null)[] = [];

afterEach(() => {
  answers.length = 0;
  asked.length = 0;
  vi.unstubAllGlobals();
});

/** A daemon that gives these answers, one for each connection, and then none. */
function daemon(...given: (() => Response)[]) {
  answers.push(...given);
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers).get("Last-Event-ID"));
    const answer = answers.shift();
    return answer ? Promise.resolve(answer()) : Promise.reject(new TypeError("refused"));
  });
}

const frames = (text: string) => () => new Response(text);
const refused = (status: number) => () => new Response(JSON.stringify({ code: "x", message: "no", hint: "" }), { status });

async function run(after: string | null = null, trust?: Client["trust"]) {
  const got: string[] = [];
  const states: StreamState["kind"][] = [];
  let gone = 0;
  await follow({
    client: new Client(new Session(localStorage), trust),
    url: "/v1/events",
    after,
    signal: new AbortController().signal,
    onFrame: (frame) => got.push(frame.data),
    onState: (state) => states.push(state.kind),
    onGone: () => {
      gone++;
      return null;
    },
    wait: () => Promise.resolve(),
  });
  return { got, states, gone };
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

test("away for too long: what was read is read anew", async () => {
  daemon(refused(410), frames(end));
  const { gone } = await run("5");
  expect(gone).toBe(1);
  expect(asked).toEqual(["5", null]);
});

test("a refusal ends it, a daemon that is ending does not", async () => {
  daemon(refused(503), refused(403));
  await expect(run()).rejects.toBeInstanceOf(Problem);
  expect(asked).toHaveLength(2);
});

test("a refused token is forgotten", async () => {
  const session = new Session(localStorage);
  session.keep({ id: "old", token: "cwd_old" });
  daemon(refused(401));
  await expect(run(null, { token: () => Promise.resolve(session.token), doubt: () => undefined })).rejects.toBeInstanceOf(Problem);
  expect(session.token).toBeNull();
});
