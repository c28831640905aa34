import { expect, test } from "vitest";
import { agentOf, itemOf } from "../testing/fakes";
import { words } from "./Announcer";
import { found, paletteItems } from "./paletteItems";
import { quoted, spawnCommand } from "./spawnCommand";

const leads = { go: () => undefined, newAgent: () => undefined, theme: () => undefined };
const items = paletteItems([agentOf("brave-otter", { title: "Retry deliveries" }), agentOf("retro-yak")], [{ id: "i", name: "Idempotent webhooks", slug: "hooks", status: "active" }] as never, leads);

test.each([
  ["retr", "retro-yak, brave-otter"],
  ["review", "Review"],
  ["webhooks idem", "Idempotent webhooks"],
  ["nothing like it", ""],
])("found by %s", (typed, want) => expect(found(items, typed).map((one) => one.text).join(", ")).toBe(want));

test.each([["a-b_c/d", "a-b_c/d"], ["it's", `'it'\\''s'`], ["$(rm -rf x)", "'$(rm -rf x)'"], ["", "''"]])("a word for a shell: %s", (word, want) => expect(quoted(word)).toBe(want));

const form = { project: "shop", goal: "fix it", provider: "", account: "" };
test.each([
  [form, "cw run --project shop 'fix it'"],
  [{ ...form, provider: "claude", account: "team-1", goal: "-x" }, "cw run --project shop --provider claude --account team-1 -- -x"],
  [{ ...form, project: "", goal: "" }, "cw agent spawn GOAL"],
])("the command of %o", (asked, want) => expect(spawnCommand(asked)).toBe(want));

test("only questions and crashes are said aloud", () => {
  expect(words(itemOf("question:a", { agent: "sly-stoat", text: "Which\u202e one?" }))).toBe("sly-stoat asks: Which one?");
  expect(words(itemOf("crashed:a", { agent: "shy-panda" }))).toContain("crashed");
  expect(words(itemOf("limit:a"))).toBe("");
});
