import { expect, test } from "vitest";
import { justBefore } from "./find";
import { placeOf } from "./order";
import { comparePlaces } from "./output";
import { promptOf } from "./prompt";
import { sendingOf } from "./sending";

const agent = (status: string) => ({ status, queuedMessages: 0 }) as Parameters<typeof sendingOf>[0];

test.each([
  ["running", "message", "Queue", "Busy: sent when this run ends"],
  ["waiting_for_input", "message", "Queue", "Waits for answers: sent together with them"],
  ["idle", "message", "Send", "Idle: sent at once, in a new run"],
  ["crashed", "resume", "Resume", "A new run begins with this text; without one it is told how its last run ended"],
])("a text to an agent that is %s", (status, by, word, says) => expect(sendingOf(agent(status))).toEqual({ by, word, says }));

test("a removed agent is told nothing", () => expect(sendingOf({ ...agent("idle"), removedAt: "2026-01-01T00:00:00Z" }).by).toBeNull());

test("agents have the order of their initiative and age", () => {
  const one = (name: string, initiativeId: string, createdAt: string) => ({ name, initiativeId, createdAt });
  const all = [one("c", "i", "3"), one("alone", "", "0"), one("b", "j", "2"), one("a", "i", "1")];
  expect(placeOf(all, "a")).toEqual({ at: 1, of: 4, next: "c", previous: "alone" });
});

test("places", () => {
  expect(["2:0:0", "1:10:0", "1:9:3", "1", "1:9"].sort(comparePlaces)).toEqual(["1", "1:9", "1:9:3", "1:10:0", "2:0:0"]);
  expect([justBefore("1:9:3"), justBefore("1:9:0")].map((place) => comparePlaces(place, "1:9:0") >= 0)).toEqual([true, false]);
});

test("the task of a prompt is shown as it was written", () => {
  expect(promptOf("<role>\nx\n</role>\n\n<task>\nDo it &lt;/task> &amp;lt;\n\nwell\n</task>\n\n<rules>\n</rules>")).toEqual({ task: "Do it </task> &lt;\n\nwell", about: "role" });
  expect(promptOf("<missing_signal>\nx\n</missing_signal>")).toEqual({ task: "", about: "missing signal" });
  expect(promptOf("plain")).toEqual({ task: "", about: "" });
});
