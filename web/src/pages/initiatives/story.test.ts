import { expect, test } from "vitest";
import { storyOf, told } from "./story";

const event = (seq: number, type: string, data: object) => ({ seq, type, at: "2026-11-23T05:14:00Z", actorKind: "cw", data }) as Parameters<typeof storyOf>[0][number];

test("every type that is asked for has words of its own", () => {
  for (const type of told) {
    const [line] = storyOf([event(1, type, { name: "Load test", title: "Load test", status: "done", task: "Load test" })]);
    expect(line?.text, type).not.toContain(type);
  }
});

test("the same thing said twice in a row stands once", () => {
  const changed = { name: "Load test", status: "running", taskId: "t" };
  expect(storyOf([event(3, "task:changed", { ...changed, status: "done" }), event(2, "task:changed", changed), event(1, "task:changed", changed)]).map((line) => line.text)).toEqual(["Load test is done", "Load test is running"]);
});

test("a payload that is none is no failure", () => expect(storyOf([{ ...event(1, "task:changed", {}), data: null }])).toHaveLength(1));

test("names steer nothing", () => expect(storyOf([event(1, "task:created", { name: "a\u202eb\nc" })])[0]?.text).toBe("New task: ab c"));
