import { expect, test } from "vitest";
import { makeRepo, stage, until } from "./act";
import { live, visit } from "./browser";
import type { Agent } from "./lab";
import { commits, done, nothing, type Step } from "./script";

let busy: Agent;
let asks: Agent;
let stuck: Agent;

const it = stage(async (lab) => {
  await makeRepo(lab, { "cart.txt": "tea\n" });
  const tool = (name: string, input: unknown, output: string): Step => ({ tool: { name, input, output } });
  const first: Step[] = [
    { say: "I look for the heron." }, tool("Bash", { command: "ls" }, "one line of output\nand another"),
    ...commits("Sell cake", { "cart.txt": "tea\ncake\n" }), { wait: "end" }, ...done("Cake is sold."),
  ];
  [busy, asks, stuck] = await Promise.all([
    lab.spawn("Sell cake", [first, [{ say: "The second run is here." }, ...done("As you say.")], [{ hang: true }], nothing("Resumed.")], "--project", "."),
    lab.spawn("Ask about cake", [[{ ask: { questions: [{ question: "With cream?", header: "Cream", options: [{ label: "Yes" }, { label: "No" }] }] } }, ...nothing("It is known.")]]),
    lab.spawn("Leave things lying", [[{ write: { path: "left.txt", text: "here" } }, { hang: true }]], "--project", "."),
  ]);
  await lab.until(asks.name, (now) => (now.pendingQuestions ?? []).length > 0);
});

const talk = () => it.page.getByRole("region", { name: "Conversation" });
const field = (agent: Agent) => it.page.getByLabel(`Message to ${agent.name}`);
const on = async (agent: Agent) => { await visit(it.seen, `/agents/${agent.name}`); await live(it.page); };

test("a text for a busy agent waits, and is in its next run", async () => {
  await on(busy);
  await it.page.getByText("Busy: sent when this run ends").waitFor();
  await it.page.keyboard.press("m");
  await it.page.keyboard.type("And with cream, please");
  await it.button("Queue").dblclick();
  await talk().getByText("Waits for its next run").waitFor();
  expect(await it.lab.agent(busy.name)).toMatchObject({ sessionNumber: 1, queuedMessages: 1 });
  expect(await field(busy).inputValue()).toBe("");
  it.lab.signal("end");
  await talk().getByText("The second run is here.").waitFor();
  await it.lab.until(busy.name, (now) => now.sessionNumber === 2 && now.status === "idle");
  const sent = (await it.lab.json<{ body: string; runId?: string }[]>("agent", "messages", busy.name)).filter((one) => one.body.includes("And with cream, please"));
  expect(sent).toHaveLength(1);
  expect(sent[0]?.runId).toBeTruthy();
});

test("the conversation is searched, folded, paused and followed; a run is jumped to; raw output and diff are read", async () => {
  await it.page.keyboard.press("/");
  await it.page.keyboard.type("heron");
  await it.page.getByRole("status").filter({ hasText: /^1 match$/ }).waitFor();
  await it.page.keyboard.press("Enter");
  await it.page.getByRole("status").filter({ hasText: /1 of 1/ }).waitFor();
  await it.page.keyboard.press("Escape");
  expect(await it.page.getByLabel("Search in this conversation").inputValue()).toBe("");
  const output = talk().getByText("and another");
  expect(await output.count()).toBe(0);
  await talk().getByRole("button", { name: /Ran|Run|ls/ }).first().click();
  await output.waitFor();
  await it.page.keyboard.press("z");
  await output.waitFor({ state: "detached" });
  // What was found is looked at: nothing is followed until somebody says so.
  await it.button(/^Follow/, talk()).click();
  for (const state of ["Pause following", "Follow", "Pause following"]) {
    await it.page.getByLabel(state, { exact: true }).waitFor();
    await it.page.keyboard.press("f");
  }
  await it.page.getByRole("combobox", { name: /^Run/ }).selectOption("1");
  await it.page.waitForURL(/run=/);
  await talk().getByText("Run 1", { exact: true }).waitFor();
  await it.button("Raw").click();
  await it.page.getByRole("group", { name: "Raw output" }).getByText('"I look for the heron."').waitFor();
  await it.button(/^Diff/).click();
  await it.page.getByRole("region", { name: "Diff" }).getByText("cake").first().waitFor();
});

test("a question is answered in place", async () => {
  await on(asks);
  await it.page.keyboard.press("a");
  await talk().locator("label").filter({ hasText: "No" }).click();
  await it.button("Send answer", talk()).dblclick();
  await it.lab.rest(asks.name);
  await talk().getByText(/answered in/).waitFor();
  expect(await it.lab.json("question", "list", "--status", "all", "--agent", asks.name)).toMatchObject([{ status: "answered", answer: "No" }]);
});

test("a stop names what is not committed first, and a resume goes on with a text", async () => {
  await on(stuck);
  await it.page.getByText("1 not committed").or(it.page.getByText("not committed")).first().waitFor();
  await it.page.keyboard.press("s");
  await it.dialog.getByText("left.txt").waitFor();
  await it.button("Let it work", it.dialog).click();
  expect((await it.lab.agent(stuck.name)).status).toBe("running");
  await it.button("Stop").click();
  await it.button(/^Stop/, it.dialog).click();
  await it.page.getByText("A new run begins with this text").waitFor();
  expect((await it.lab.agent(stuck.name)).status).toBe("stopped");
  await on(busy);
  await field(busy).fill("Go on and on");
  await it.page.keyboard.press("Control+Enter");
  await it.lab.until(busy.name, (now) => now.sessionNumber === 3 && now.status === "running");
  await it.button("Stop").click();
  await it.button("Resume").click();
  await it.lab.until(busy.name, (now) => now.sessionNumber === 4 && now.status === "idle");
});

test("an agent is removed, comes back when it is undone, and is restored later", async () => {
  const there = async () => (await it.lab.json<Agent[]>("agent", "list")).some((one) => one.name === asks.name);
  await on(asks);
  await it.button("Shell", it.main).click();
  await it.main.getByText(`cw agent shell ${asks.name}`).waitFor();
  await it.button("Open in editor", it.main).click();
  await it.main.getByText(`cw agent open ${asks.name}`).waitFor();
  await it.button("Remove", it.main).click();
  await it.said(`${asks.name} is removed.`);
  expect(await there()).toBe(false);
  await it.button("Undo").click();
  await until(async () => expect(await there()).toBe(true));
  await it.button("Remove", it.main).click();
  await it.button("Restore", it.main).waitFor();
  await it.page.getByPlaceholder("Removed: restore it first").waitFor();
  expect(await there()).toBe(false);
  await it.button("Restore", it.main).click();
  await it.button("Remove", it.main).waitFor();
  expect(await there()).toBe(true);
});
