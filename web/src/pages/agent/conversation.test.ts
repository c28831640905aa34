import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { Conversation, MOST_ITEMS } from "./conversation";
import type { Item } from "./items";
import { comparePlaces, type OutputEvent } from "./output";

/** Counts how often places are compared: what everything else hangs on. */
const compared = vi.hoisted(() => ({ times: 0 }));
vi.mock(import("./output"), async (original) => {
  const real = await original();
  return {
    ...real,
    comparePlaces: (a, b) => {
      compared.times++;
      return real.comparePlaces(a, b);
    },
  };
});

type Said = OutputEvent["event"];

/** Events as a run would have them, one chunk each. */
function events(said: Said[], session = 1, from = 0): OutputEvent[] {
  return said.map((event, i) => ({ position: `${session}:${(from + i) * 10}:0`, chunkId: from + i + 1, session, at: new Date(1_000_000 + (from + i) * 1000).toISOString(), event }));
}

function recorded(name: string): OutputEvent[] {
  const lines = readFileSync(`${import.meta.dirname}/testdata/${name}.jsonl`, "utf8").trim().split("\n");
  return events(lines.map((line) => JSON.parse(line) as Said));
}

function held(items: readonly Item[]): string[] {
  return items.map((item) => {
    switch (item.kind) {
      case "tool":
        return `${item.tool || "?"}: ${item.result === null ? "no result" : "result"}${item.changed.length > 0 ? `, ${item.changed.length} changed` : ""}`;
      case "say":
      case "think":
        return `${item.kind}: ${item.text.trim()}`;
    }
    return item.kind;
  });
}

function made(list: OutputEvent[]): Conversation {
  const one = new Conversation();
  one.append(list);
  return one;
}

const text = (words: string): Said => ({ kind: "text_delta", text: words });
const call = (id: string, tool = "Bash"): Said => ({ kind: "tool_call", toolUseId: id, tool, input: { command: id } });
const result = (id: string): Said => ({ kind: "tool_result", toolUseId: id, text: "ok" });

describe("what real CLIs said", () => {
  test("claude", () => {
    expect(held(made(recorded("claude")).items)).toEqual([
      "say: I will look at the tree first.", "Bash: result", "say: Now the edit.", "Write: result, 1 changed", "say: Commit.", "Bash: result",
      "say: Signal.", "Bash: result", "Write: result, 1 changed", "say: Done: added hello.txt and committed it.",
    ]);
  });
  test("codex", () => expect(held(made(recorded("codex")).items)).toMatchSnapshot());
  test("pi", () => expect(held(made(recorded("pi")).items)).toMatchSnapshot());
});

test.each(["claude", "codex", "pi"])("%s is the same however it is cut into pages, with overlaps", (name) => {
  const all = recorded(name);
  const whole = held(made(all).items);
  for (let at = 0; at <= all.length; at++) {
    const forward = made(all.slice(0, at + 1));
    forward.append(all.slice(Math.max(0, at - 3)));
    expect(held(forward.items)).toEqual(whole);
    const backward = made(all.slice(at));
    backward.prepend(all.slice(0, at + 2));
    expect(held(backward.items)).toEqual(whole);
  }
});

test("a result without its call waits for the page that has it", () => {
  const all = events([call("a"), call("b"), text("…"), result("b"), result("a")]);
  const one = made(all.slice(2));
  expect(held(one.items)).toEqual(["say: …", "?: result", "?: result"]);
  one.prepend(all.slice(0, 2));
  expect(held(one.items)).toEqual(["Bash: result", "Bash: result", "say: …"]);
});

test("a list of steps takes the place of its call, and only the newest is shown whole", () => {
  const steps = (done: number) => [0, 1].map((i) => ({ id: `step-${i}`, title: `${i}`, status: i < done ? "completed" : "pending" }));
  const todo = (id: string, done: number): Said[] => [{ ...call(id, "TodoWrite") }, { kind: "plan", toolUseId: id, steps: steps(done) }, result(id)];
  const one = made(events([...todo("a", 0), text("…"), ...todo("b", 1)]));
  expect(one.items.map((item) => [item.kind, item.kind === "plan" && item.latest])).toEqual([["plan", false], ["say", false], ["plan", true]]);
});

test("tries again are one item", () => {
  const retry: Said = { kind: "retry", text: "overloaded", attempt: 1 };
  const [item] = made(events([retry, retry, retry])).items;
  expect(item).toMatchObject({ kind: "trouble", what: "retry", times: 3 });
});

test("the agent's last words are not told twice", () => {
  expect(held(made(events([text("All done.\n"), { kind: "result", text: "All done." }])).items)).toEqual(["say: All done."]);
  expect(held(made(events([text("Hm.\n"), { kind: "result", text: "All done." }])).items)).toEqual(["say: Hm.", "end"]);
});

describe("100,000 events", { timeout: 60_000 }, () => {
  const many = (n: number, from: number) => events(Array.from({ length: n }, (_, i) => (i % 2 === 0 ? call(`${from + i}`) : result(`${from + i - 1}`))), 1, from);

  test("no more is held than the bound, and what was forgotten can be read again", () => {
    const one = new Conversation();
    for (let from = 0; from < 100_000; from += 500) {
      one.append(many(500, from));
      one.trimStart();
      expect(one.items.length).toBeLessThanOrEqual(MOST_ITEMS);
    }
    expect(one.last).toBe("1:999990:0");
    expect(one.first).toBe(one.items[0]?.first);
    const first = Number(one.first.split(":")[1]) / 10;
    one.prepend(many(500, first - 500));
    expect(one.items.every((item) => item.kind === "tool" && item.tool !== "" && item.result !== null)).toBe(true);
    one.trimEnd();
    expect(one.items.length).toBeLessThanOrEqual(MOST_ITEMS);
    expect(comparePlaces(one.last, "1:999990:0")).toBeLessThan(0);
  });

  test("a new event costs the same however many there were", () => {
    const one = new Conversation();
    const cost = (from: number, to: number): number => {
      compared.times = 0;
      for (let at = from; at < to; at += 500) {
        one.append(many(500, at));
        one.trimStart();
      }
      return compared.times;
    };
    cost(0, 20_000);
    const early = cost(20_000, 30_000);
    cost(30_000, 90_000);
    expect(cost(90_000, 100_000)).toBeLessThan(early * 1.1);
    expect(early / 10_000).toBeLessThan(10);
  });

  test("long words are parted, and lines of text alone stay bounded", () => {
    const one = new Conversation();
    for (let from = 0; from < 100_000; from += 1000) {
      one.append(events(Array.from({ length: 1000 }, (_, i) => text(`line ${from + i}\n`)), 1, from));
      one.trimStart();
    }
    const longest = Math.max(...one.items.map((item) => (item.kind === "say" ? item.text.length : 0)));
    expect(longest).toBeLessThan(17_000);
  });
});
