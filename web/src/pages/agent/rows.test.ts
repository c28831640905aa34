import { expect, test } from "vitest";
import type { Schema } from "../../api/client";
import { Conversation } from "./conversation";
import type { OutputEvent } from "./output";
import { rowsOf } from "./rows";

const time = (second: number) => new Date(second * 1000).toISOString();
const run = (n: number, second: number) => ({ id: `r${n}`, sessionNumber: n, kind: "agent", startedAt: time(second), createdAt: time(second), reason: "spawn" }) as Schema<"Run">;
const message = (id: string, runId: string | undefined, second: number) => ({ id, runId, role: "user", origin: "person", body: id, createdAt: time(second) }) as Schema<"Message">;
const question = (id: string, runId: string, second: number, source: string) => ({ id, runId, requestId: `of ${id}`, seq: 1, source, createdAt: time(second) }) as Schema<"Question">;
const say = (session: number, second: number): OutputEvent => ({ position: `${session}:${second}:0`, chunkId: 1, session, at: time(second), event: { kind: "tool_call", toolUseId: `${second}`, tool: "Bash" } });

const all = [say(1, 10), say(1, 20), say(1, 30), say(2, 50), say(2, 60)];
const around = {
  runs: [run(1, 5), run(2, 45)], messages: [message("goal", "r1", 1), message("answer", "r2", 44), message("queued", undefined, 55)],
  questions: [question("tool", "r1", 25, "tool"), question("signal", "r1", 31, "signal")], older: false, newer: false,
};

function shown(events: OutputEvent[], more: Partial<typeof around> = {}): string[] {
  const one = new Conversation();
  one.append(events);
  return rowsOf(one.items, { ...around, ...more }).map((row) => row.key);
}

test("runs, texts and questions stand where they belong", () => {
  expect(shown(all)).toEqual([
    "run r1", "message goal", "1:10:0", "1:20:0", "questions of tool", "1:30:0", "questions of signal",
    "run r2", "message answer", "2:50:0", "2:60:0", "message queued",
  ]);
});

test("what belongs to output that is not held comes with its page", () => {
  expect(shown(all.slice(2), { older: true })).toEqual(["1:30:0", "questions of signal", "run r2", "message answer", "2:50:0", "2:60:0", "message queued"]);
  expect(shown(all.slice(0, 2), { newer: true })).toEqual(["run r1", "message goal", "1:10:0", "1:20:0"]);
});

test("an agent that said nothing yet has its goal", () => {
  expect(shown([], { questions: [], runs: [run(1, 5)], messages: [message("goal", "r1", 1)] })).toEqual(["run r1", "message goal"]);
});
