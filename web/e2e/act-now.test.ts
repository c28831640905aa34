import { expect, test } from "vitest";
import { addHasty, choose, stage, until } from "./act";
import { live, visit } from "./browser";
import type { Agent, Lab } from "./lab";
import { nothing, type Question, type Step } from "./script";

const options = (...labels: string[]) => labels.map((label) => ({ label }));

/** Asks, and ends when it is answered. */
const asks = (...questions: Question[]): Step[][] => [[{ ask: { questions: questions.map((one) => ({ header: "Shop", ...one })) } }, ...nothing("It is known.")]];

let agents: Record<"words" | "several" | "both" | "crash" | "silent" | "quiet" | "limit", Agent>;

const it = stage(async (lab) => {
  await addHasty(lab, 2);
  await lab.runWith("limited-key-0001", "account", "add", "--provider", "codex", "--name", "team-1", "--api-key");
  const [words, several, both, crash, silent, quiet, limit] = await Promise.all([
    lab.spawn("Ask for words", asks({ question: "What is the button called?", options: options("Buy", "Order") })),
    lab.spawn("Ask for several", asks({ question: "Which countries come first?", multiSelect: true, options: options("Austria", "Belgium", "Chile") })),
    lab.spawn("Ask two things", asks({ question: "Which colour has it?", options: options("Blue", "Red") }, { question: "How large is it?", options: options("Small", "Large") })),
    lab.spawn("Crash once", [[{ signal: { status: "error", error: "the disk is gone" } }], nothing("It works now.")]),
    lab.spawn("Fall silent and go on", [[{ say: "I wait for a network." }, { hang: true }], nothing("It went on.")], "--provider", "hasty"),
    lab.spawn("Fall silent for good", [[{ say: "I wait for nothing." }, { hang: true }]], "--provider", "hasty"),
    lab.spawn("Run into a limit", [[{ limit: { status: "rejected", kind: "seven_day", used: 1, minutes: 190 } }, { exit: 1 }]], "--provider", "codex"),
  ]);
  agents = { words, several, both, crash, silent, quiet, limit };
  const waits = async (): Promise<string[]> => (await lab.json<{ items: { kind: string }[] }>("inbox")).items.map((item) => item.kind).sort();
  await until(async () => expect(await waits()).toEqual(["crashed", "limit", "question", "question", "question", "stalled", "stalled"]));
});

const answers = async (lab: Lab, agent: Agent) => (await lab.json<{ answer: string }[]>("question", "list", "--status", "all", "--agent", agent.name)).map((one) => one.answer);

const detail = () => it.page.locator("#inbox-detail");

test("a question is answered in own words", async () => {
  await choose(it, "What is the button called?");
  await it.page.keyboard.press("o");
  await it.page.keyboard.type("Take it home");
  await it.page.keyboard.press("Enter");
  await it.said(`Answered ${agents.words.name}`);
  await it.lab.rest(agents.words.name);
  expect(await answers(it.lab, agents.words)).toEqual(["Take it home"]);
  expect(await it.main.getByText("What is the button called?").count()).toBe(0);
});

test("several options are chosen by their keys, and arrive in their order", async () => {
  await choose(it, "Which countries come first?");
  for (const key of ["3", "1", "2", "2"]) await it.page.keyboard.press(key);
  await it.page.keyboard.press("Enter");
  await it.said(`Answered ${agents.several.name}`);
  await it.lab.rest(agents.several.name);
  expect(await answers(it.lab, agents.several)).toEqual(['["Austria","Chile"]']);
});

test("questions of one call are answered one after the other, and sent together", async () => {
  await choose(it, "Which colour has it?");
  await it.page.keyboard.press("2");
  await it.page.keyboard.press("Enter");
  await detail().getByText("How large is it?").waitFor();
  expect(await answers(it.lab, agents.both)).toEqual([undefined, undefined]);
  await detail().getByText("question 2 of 2").waitFor();
  await it.page.keyboard.press("1");
  await it.button("Send answers", detail()).dblclick();
  await it.said(`Answered ${agents.both.name}`);
  await it.lab.rest(agents.both.name);
  expect(await answers(it.lab, agents.both)).toEqual(["Red", "Small"]);
});

test("a crashed agent is resumed with a note, which is in the prompt of its next run", async () => {
  await choose(it, agents.crash.name);
  await detail().getByText("the disk is gone").waitFor();
  await detail().getByLabel("Note").fill("The disk is back");
  await it.button("Resume", detail()).click();
  await it.said(`${agents.crash.name} goes on`);
  await it.lab.until(agents.crash.name, (now) => now.status === "idle");
  const messages = await it.lab.json<{ body: string }[]>("agent", "messages", agents.crash.name);
  expect(messages.filter((one) => one.body.includes("The disk is back"))).toHaveLength(1);
});

test("a silent agent is stopped and resumed, and another one is stopped", async () => {
  await choose(it, agents.silent.name);
  await it.button("Stop and resume", detail()).click();
  await it.said(`${agents.silent.name} goes on`);
  await it.lab.until(agents.silent.name, (now) => now.status === "idle");
  await choose(it, agents.quiet.name);
  await it.button(/^Stop$/, detail()).click();
  await it.said(`${agents.quiet.name} stopped. Work is kept.`);
  expect((await it.lab.agent(agents.quiet.name)).status).toBe("stopped");
});

test("a limit says whom it holds until when, and leads to the accounts", async () => {
  await visit(it.seen, "/");
  await live(it.page);
  await choose(it, "limit");
  await detail().getByText("Parked", { exact: true }).waitFor();
  await detail().getByRole("link", { name: agents.limit.name }).waitFor();
  await it.button("Accounts", detail()).click();
  await it.page.waitForURL(/\/accounts$/);
  expect((await it.lab.agent(agents.limit.name)).status).toBe("parked");
});
