import { describe, expect, it } from "vitest";
import type { Conversation } from "../../api/conversationQueries";
import { askedOf, between, markOfConversation, standing } from "./threads";

const talk = (more: Partial<Conversation>) => ({ id: "1", from: "calm-fox", fromAgentId: "f", to: "brave-otter", toAgentId: "o", status: "pending", queue: false, wake: false, createdAt: "2026-11-21T10:00:00Z", ...more }) as Conversation;

describe("a conversation", () => {
  it("is delivered once its agent has it", () => {
    expect(markOfConversation(talk({})).word).toBe("Pending");
    expect(markOfConversation(talk({ deliveredAt: "2026-11-21T10:00:01Z" })).word).toBe("Delivered");
    expect(markOfConversation(talk({ status: "answered", deliveredAt: "2026-11-21T10:00:01Z" })).word).toBe("Answered");
  });
  it("names who is asked", () => expect(askedOf({ targetKind: "task", targetId: "sign", to: undefined } as unknown as Conversation)).toBe("task sign"));
  it.each([
    [{ status: "answered" }, "calm-fox has not read the answer yet."],
    [{ status: "answered", fetchedAt: "2026-11-21T10:00:01Z" }, "calm-fox has read the answer."],
    [{ status: "cancelled", reason: "brave-otter was removed" }, "There will be no answer: brave-otter was removed"],
    [{ reason: "brave-otter is busy" }, "It waits: brave-otter is busy"],
    [{ deliveredAt: "2026-11-21T10:00:01Z" }, "brave-otter has the question. calm-fox waits for the answer."],
    [{ to: undefined }, "It waits for an agent that works on what was asked."],
    [{ wake: true }, "brave-otter is resumed with it."],
    [{ queue: true }, "brave-otter gets it with its next run."],
  ])("%o: %s", (more, words) => expect(standing(talk(more as Partial<Conversation>))).toBe(words));
  it("stands among what the same two asked each other", () => {
    const one = talk({ id: "2", createdAt: "2026-11-21T11:00:00Z" });
    const back = talk({ id: "3", fromAgentId: "o", toAgentId: "f", createdAt: "2026-11-21T12:00:00Z" });
    const other = talk({ id: "4", toAgentId: "x" });
    expect(between([back, other, talk({})], one).map((each) => each.id)).toEqual(["1", "2", "3"]);
  });
});
