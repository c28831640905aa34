import { expect, test } from "vitest";
import { agentOf } from "../../../testing/fakes";
import { changesOf, countsOf, fits, ordered, rowsOf, runTime, showOf, type Agent, type Filter } from "./rows";
import { thisSecond } from "./thisSecond";

const asked = [{ question: "Which key?", createdAt: "2026-11-23T05:05:00Z" }] as Agent["pendingQuestions"];
const stalled = { state: "stalled" } as Agent["activity"];
const agents = [
  agentOf("brave-otter", { status: "running", initiativeId: "i1", createdAt: "2026-11-23T05:02:00Z" }),
  agentOf("proud-bison", { status: "running", activity: stalled }),
  agentOf("swift-lynx", { status: "running", pendingQuestions: asked, accountName: "team-2" }),
  agentOf("shy-panda", { status: "crashed", initiativeId: "i1" }),
  agentOf("tiny-shrew", { status: "stopped", initiativeId: "i2" }),
];

test("the bar counts a stalled agent within the running ones, and one that asks as waiting", () => {
  expect(countsOf(agents)).toEqual({ all: 5, running: 2, waiting: 1, stalled: 1, crashed: 1, parked: 0, idle: 0, other: 1 });
});

const all: Filter = { show: "all", find: "", account: "" };
test.each<[Partial<Filter>, string]>([
  [{}, "brave-otter proud-bison swift-lynx shy-panda tiny-shrew"],
  [{ show: "stalled" }, "proud-bison"],
  [{ show: "running" }, "brave-otter proud-bison"],
  [{ find: "TASK otter" }, "brave-otter"],
  [{ find: "webhooks" }, "brave-otter shy-panda"],
  [{ account: "claude/team-2" }, "swift-lynx"],
])("filter %o", (change, want) => {
  expect(agents.filter((one) => fits(one, { ...all, ...change }, one.initiativeId === "i1" ? "Webhooks" : "")).map((one) => one.name).join(" ")).toBe(want);
});

test("a word in a link that is none of ours shows all", () => expect([showOf("parked"), showOf("<b>"), showOf(undefined)]).toEqual(["parked", "all", "all"]));

test("rows are grouped by initiative in the order of their start, those on their own last, never by status", () => {
  const initiatives = [{ id: "i2", createdAt: "2026-11-02T00:00:00Z" }, { id: "i1", createdAt: "2026-11-01T00:00:00Z" }] as Parameters<typeof ordered>[1];
  const rows = rowsOf(ordered(agents, initiatives, true), initiatives, true);
  expect(rows.map((row) => row.key)).toEqual(["group:i1", "id-shy-panda", "id-brave-otter", "group:i2", "id-tiny-shrew", "group:", "id-proud-bison", "id-swift-lynx"]);
  expect(rowsOf(ordered(agents, [], false), [], false)).toHaveLength(5);
});

test("run time and changes are summed", () => {
  const runs = [{ startedAt: "2026-11-23T05:00:00Z", endedAt: "2026-11-23T05:10:00Z" }, { startedAt: "2026-11-23T06:00:00Z" }, {}] as Agent["runs"];
  expect(runTime(agentOf("a", { runs }), Date.parse("2026-11-23T06:05:00Z"))).toBe(15 * 60_000);
  const stat = { additions: 3, deletions: 1, filesChanged: 2 };
  expect(changesOf(agentOf("a", { projects: [{ stat }, { stat }] as Agent["projects"] }))).toEqual({ added: 6, removed: 2, files: 4 });
  expect(changesOf(agentOf("a"))).toBeNull();
});

const around = { activity: null };
test.each<[string, Agent, Parameters<typeof thisSecond>[1], string]>([
  ["what later daemons say", agentOf("a", { status: "running" }), { activity: { state: "busy", verb: "run", subject: "go test\n./..." } as never }, "Run|go test ./..."],
  ["a tool", agentOf("a", { status: "running" }), { activity: { state: "busy", tool: "Bash" } }, "Uses|Bash"],
  ["a retry", agentOf("a", { status: "running" }), { activity: { state: "retrying", attempt: 3 } }, "Tries again|attempt 3"],
  ["a question of a call", agentOf("a", { status: "running", pendingQuestions: asked }), around, "Asks|Which key?"],
  ["a queued merge", agentOf("a"), { ...around, merge: { status: "queued", wait: "another goes first", updatedAt: "" } as never }, "Queued|another goes first"],
  ["proposals", agentOf("a"), { ...around, proposals: 4 }, "Proposed|4 changes"],
  ["a stop of a person", agentOf("a", { status: "stopped", reason: "user" }), around, "Stopped|by a person, work kept"],
  ["a task that waits", agentOf("a", { status: "pending" }), { ...around, task: { wait: { text: "for brave-otter" } } as never }, "Waits|for brave-otter"],
])("this second: %s", (_, agent, known, want) => {
  const now = thisSecond(agent, known);
  expect(`${now.verb}|${now.subject}`).toBe(want);
});
