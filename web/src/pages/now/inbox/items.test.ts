import { expect, test } from "vitest";
import { itemOf } from "../../../testing/fakes";
import { markOfItem, shownItems, summary, textOf, waitOf } from "./items";

const a = itemOf("question:a");
const b = itemOf("crashed:b");
const keys = (shown: ReturnType<typeof shownItems>) => shown.map((one) => one.item.key + (one.gone ? " gone" : "")).join(", ");

test.each([
  ["nothing chosen", [a, b], [], null, "question:a, crashed:b"],
  ["what was dealt with here is gone before the daemon says so", [a, b], [a], null, "crashed:b"],
  ["the chosen one that went elsewhere stays in its place", [b], [], { item: a, place: 0 }, "question:a gone, crashed:b"],
  ["one that was dealt with here does not come back", [b], [a], { item: a, place: 0 }, "crashed:b"],
  ["one that waits anew later is shown", [{ ...a, since: "2026-11-23T06:00:00Z" }], [a], null, "question:a"],
] as const)("%s", (_, items, done, chosen, want) => expect(keys(shownItems([...items], new Set(done.map(waitOf)), chosen))).toBe(want));

test("words of an item", () => {
  const now = Date.parse("2026-11-23T05:26:00Z");
  expect(textOf(itemOf("stalled:x"), now)).toBe("No output for 26 minutes");
  expect(textOf(itemOf("blocked:x", { text: "it\u202e has\nno page" }), now)).toBe("It has no page");
  expect(textOf(itemOf("merge:x", { task: "show the cart", text: "its checks are red" }), now)).toBe("Show the cart: its checks are red");
  expect(summary([{ ...a, behind: 3 }, { ...b, behind: 8 }], now)).toBe("11 tasks wait, the longest for 26 minutes");
  expect(summary([a], now)).toBe("the longest for 26 minutes");
  expect(markOfItem(itemOf("question:x", { count: 2 })).word).toBe("2 questions");
  expect(markOfItem(itemOf("merge:x"), { status: "conflicted" } as never).word).toBe("Conflict");
});
