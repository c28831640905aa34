import { beforeEach, expect, test } from "vitest";
import { answerInWords, answerOf, draftOf, forget, isAnswered, keepDraft, pick, write, type Draft } from "./drafts";

const one = { id: "q", question: "?", options: [{ label: "Cart" }, { label: "Search" }] };
const several = { ...one, multiSelect: true };
const nothing: Draft = { picks: [], own: "" };

beforeEach(() => sessionStorage.clear());

test.each([
  [one, ["Cart", "Search"], "", "Search"],
  [one, ["Cart"], " neither ", "neither"],
  [several, ["Search", "Cart"], "", '["Cart","Search"]'],
  [several, ["Cart", "Cart"], "", "[]"],
  // The daemon takes no list with something in it that it did not offer.
  [several, ["Search", "Cart"], " the footer, too ", "Cart, Search\nthe footer, too"],
  [several, [], "the footer", "the footer"],
])("%o with %j and %j is %j", (asked, picks, own, want) => {
  const picked = picks.reduce((draft, label) => pick(asked, draft, label), nothing);
  expect(answerOf(asked, own === "" ? picked : write(asked, picked, own))).toBe(want);
});

test("where one alone may be chosen a pick takes the place of own words", () => expect(pick(one, { picks: [], own: "neither" }, "Cart")).toEqual({ picks: ["Cart"], own: "" }));

test("an answer is read as it was given", () => {
  expect([answerInWords('["a","b"]'), answerInWords("[not json"), answerInWords("a")]).toEqual(["a, b", "[not json", "a"]);
});

test("a draft outlives the page, and goes when it was sent or taken back", () => {
  keepDraft("q", { picks: ["Cart"], own: "" });
  expect(draftOf("q")).toEqual({ picks: ["Cart"], own: "" });
  forget(["q"]);
  expect(isAnswered(draftOf("q"))).toBe(false);
  keepDraft("q", { picks: [], own: "x" });
  keepDraft("q", nothing);
  expect(sessionStorage.length).toBe(0);
});

test.each(["{", "null", '{"picks":1,"own":{}}'])("a draft that cannot be read is none: %s", (kept) => {
  sessionStorage.setItem("cw.draft.question.q", kept);
  expect(isAnswered(draftOf("q"))).toBe(false);
});
