import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { makeRepo, stage, until } from "./act";
import { live, visit } from "./browser";
import type { Agent } from "./lab";
import { commits, done, nothing, type Step } from "./script";

let agents: Agent[];
const name = (i: number) => agents[i]?.name ?? "";

const it = stage(async (lab) => {
  await makeRepo(lab, { "cart.txt": "tea\n" });
  for (const account of ["team-1", "team-2"]) await lab.runWith(`shop-key-of-${account}`, "account", "add", "--provider", "claude", "--name", account, "--api-key");
  const works: Step[][] = [[{ write: { path: "left.txt", text: "not committed" } }, { hang: true }], [...commits("Sell it", { "sold.txt": "all of it" }), ...done("As you say.")]];
  const other = ["--project", ".", "--account", "team-2"];
  agents = await Promise.all([lab.spawn("Sell tea", works, ...other), lab.spawn("Sell coffee", works, ...other), lab.spawn("Sell nothing", [nothing("Nothing is sold.")], "--account", "team-1")]);
  lab.script("Sell cake", nothing("Cake is sold."));
  await lab.rest(name(2));
});

const statuses = async () => (await Promise.all(agents.map((one) => it.lab.agent(one.name)))).map((one) => one.status);
const row = (agent: string) => it.main.locator("[data-agent]").filter({ has: it.page.getByRole("link", { name: agent, exact: true }) });
const rows = () => it.main.locator("[data-agent] [role=rowheader]").allInnerTexts();
const bar = () => it.page.getByRole("toolbar", { name: "Selected agents" });

/** Chooses agents, the first by the keyboard and the others by their boxes. */
async function select(...chosen: string[]): Promise<void> {
  const [first = "", ...rest] = chosen;
  await row(first).getByRole("link").focus();
  await it.page.keyboard.press("x");
  for (const one of rest) await row(one).getByRole("checkbox").click();
  await bar().getByText(`${chosen.length} agents selected`).waitFor();
}

test("a text goes to all that are chosen: queued for those that are busy", async () => {
  await select(name(0), name(2));
  await it.page.keyboard.press("m");
  await it.dialog.getByText("1 go on at once, 1 when their runs end").waitFor();
  await it.page.keyboard.type("Mind the prices");
  await it.button("Send", it.dialog).dblclick();
  await it.said("Sent to 2 agents");
  await it.lab.until(name(2), (now) => now.sessionNumber === 2 && now.status === "idle");
  expect(await it.lab.agent(name(0))).toMatchObject({ status: "running", queuedMessages: 1 });
  const heard = await it.lab.json<{ body: string }[]>("agent", "messages", name(2));
  expect(heard.filter((one) => one.body.includes("Mind the prices"))).toHaveLength(1);
  await it.page.keyboard.press("Escape");
  await bar().waitFor({ state: "detached" });
});

test("those that are chosen are stopped, after work that is not committed was named", async () => {
  await select(name(0), name(1));
  await it.page.keyboard.press("s");
  await it.dialog.getByText("2 files are not committed.").waitFor();
  await it.button("Let them work", it.dialog).click();
  expect(await statuses()).toEqual(["running", "running", "idle"]);
  await it.button("Stop", bar()).click();
  await it.button("Stop, keep the files", it.dialog).click();
  await it.said("2 agents stopped. Work is kept.");
  expect(await statuses()).toEqual(["stopped", "stopped", "idle"]);
});

test("agents that are removed come back when it is undone, others are resumed", async () => {
  for (const one of [name(0), name(1)]) await row(one).getByText("Stopped").first().waitFor();
  await it.button("Remove", bar()).click();
  await it.said("2 agents removed. Their branches stay.");
  await until(async () => expect((await it.lab.json<Agent[]>("agent", "list")).map((one) => one.name)).toEqual([name(2)]));
  await it.button("Undo", it.notice("2 agents removed")).click();
  await until(async () => expect(await statuses()).toEqual(["stopped", "stopped", "idle"]));
  await row(name(1)).waitFor();
  await row(name(0)).waitFor();
  await bar().getByText("2 agents selected").waitFor(); // as before they went
  await it.button("Resume", bar()).click();
  await it.said("2 agents resumed");
  await Promise.all([name(0), name(1)].map((one) => it.lab.until(one, (now) => now.status === "idle")));
  await it.button("Select none", bar()).click();
});

test("agents are found by status, words and account, and a filter is kept", async () => {
  const find = it.page.getByLabel("Filter agents");
  await it.page.keyboard.press("/");
  await it.page.keyboard.type("sell nothing");
  await expect.poll(rows).toEqual([name(2)]);
  await it.button("Save filter").click();
  await it.page.waitForURL(/find=sell/);
  await visit(it.seen, "/");
  await live(it.page);
  await expect.poll(async () => (await rows()).length).toBe(3);
  await it.page.getByLabel("Saved filters").selectOption("sell nothing");
  await expect.poll(rows).toEqual([name(2)]);
  await it.button("Forget filter").click();
  await find.fill("");
  await it.button(/^Running/, it.page.getByRole("group", { name: "Status" })).click();
  await it.page.getByText("No agent fits this filter.").waitFor();
  await it.button(/^All/, it.page.getByRole("group", { name: "Status" })).click();
  await it.page.getByLabel("Account").selectOption("claude/team-1");
  await expect.poll(rows).toEqual([name(2)]);
});

test("the palette leads to a new agent, which is started with what was chosen", async () => {
  await it.page.keyboard.press("Control+k");
  await it.dialog.getByRole("combobox").waitFor();
  await it.page.keyboard.type("new agent");
  await it.page.keyboard.press("Enter");
  await it.dialog.getByRole("textbox", { name: "Goal" }).fill("Sell cake\n\nWith cream.");
  await it.dialog.getByRole("combobox", { name: /^Project/ }).selectOption("shop");
  await it.dialog.getByRole("combobox", { name: /^Account/ }).selectOption({ label: "claude/team-1" });
  await it.dialog.getByText("cw run --project shop --provider claude --account team-1 'Sell cake").waitFor();
  await it.button("Start", it.dialog).dblclick();
  await it.page.waitForURL(/\/agents\//);
  const found = (await it.lab.json<Agent[]>("agent", "list")).filter((one) => one.title === "Sell cake");
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ accountName: "team-1", projects: [{ project: "shop" }] });
  await it.page.getByRole("heading", { level: 1, name: found[0]?.name ?? "" }).waitFor();
  await it.page.keyboard.press("Control+k");
  await it.dialog.getByRole("combobox").waitFor();
  await it.page.keyboard.type(name(0));
  await it.page.keyboard.press("Enter");
  await it.page.waitForURL(new RegExp(`/agents/${name(0)}$`));
});

test("an agent that is removed stays away, and its branch stays", async () => {
  await visit(it.seen, "/");
  await live(it.page);
  await row(name(1)).getByRole("checkbox").click();
  await it.button("Remove", bar()).click();
  await it.said(`${name(1)} removed. Its branch stays.`);
  await bar().waitFor({ state: "detached" });
  await visit(it.seen, "/");
  await row(name(0)).waitFor();
  expect(await row(name(1)).count()).toBe(0);
  expect((await it.lab.json<Agent[]>("agent", "list")).map((one) => one.name)).not.toContain(name(1));
  expect(execFileSync("git", ["branch", "--list", `agent/${name(1)}`], { cwd: it.lab.told.repo, env: it.lab.env, encoding: "utf8" })).toContain(name(1));
});
