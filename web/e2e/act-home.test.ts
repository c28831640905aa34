import { expect, test } from "vitest";
import { makeRepo, stage, until } from "./act";
import { leave, live, signedIn, visit } from "./browser";
import { nothing } from "./script";

interface Account { name: string; enabled: boolean; priority: number }
interface Budget { scope: string; limitUsd: number }
interface Token { name: string; createdAt: string; session?: boolean; revokedAt?: string }

const it = stage(async (lab) => {
  await makeRepo(lab, { "cart.txt": "tea\n", "cw.yaml": "setup:\n  - touch was-set-up\n", ".gitignore": "was-set-up\nheard\n" });
  for (const name of ["team-1", "team-2"]) await lab.runWith(`shop-key-of-${name}`, "account", "add", "--provider", "claude", "--name", name, "--api-key");
  await lab.cw("initiative", "create", "Sell cake", "--start", "--project", "shop");
  await lab.cw("token", "create", "--name", "wall-screen");
  await lab.cw("config", "set", "notify.command", JSON.stringify(["sh", "-c", 'echo "$CW_EVENT_TYPE" >> told; exit 0']));
  await lab.cw("restart");
  const knows = await lab.spawn("Answer the others", [[{ quiet: "cw listen > heard && cw answer 'With cream.' --conversation-id $(sed -n 's/.*\"conversationId\": *\"\\([^\"]*\\)\".*/\\1/p' heard)" }, ...nothing("Answered.")]], "--project", ".", "--name", "swift-lynx");
  const asks = await lab.spawn("Ask the others", [[{ quiet: "cw ask 'With or without cream?' --agent-id swift-lynx" }, ...nothing("It is known.")]], "--project", ".", "--name", "keen-marten");
  await Promise.all([knows, asks].map((one) => lab.rest(one.name)));
  await lab.cw("project", "trust", ".", "--revoke");
});

const open = async (path: string) => { await visit(it.seen, path); await live(it.page); };
const accounts = async () => (await it.lab.json<Account[]>("account", "list")).filter((one) => one.name.startsWith("team"));
const budgets = () => it.lab.json<Budget[]>("budget", "list");
const tokens = async () => (await it.lab.json<Token[]>("token", "list")).filter((one) => !one.revokedAt);

test("an account is turned off and on, goes first, and is removed; one is added in a terminal alone", async () => {
  await open("/accounts");
  await it.button("Add account").click();
  await it.dialog.getByText("cw account discover", { exact: true }).waitFor();
  await it.button("Close", it.dialog).click();
  await it.button("Facts and actions of claude/team-2").click();
  await it.button("Turn off", it.main).dblclick();
  await it.button("Turn on", it.main).waitFor();
  expect((await accounts()).find((one) => one.name === "team-2")?.enabled).toBe(false);
  await it.button("Turn on", it.main).click();
  await it.button("Turn off", it.main).waitFor();
  await it.page.getByLabel("Priority of claude/team-2").fill("7");
  await it.page.keyboard.press("Enter");
  await until(async () => expect((await accounts()).find((one) => one.name === "team-2")).toMatchObject({ enabled: true, priority: 7 }));
  await it.button("Test", it.main).click();
  await it.said("claude/team-2:");
  await it.button("Remove…", it.main).click();
  await it.button("Remove", it.dialog).click();
  await it.said("claude/team-2 is forgotten.");
  expect((await accounts()).map((one) => one.name)).toEqual(["team-1"]);
});

test("a budget is set, changed and taken away, which can be undone", async () => {
  await it.button("Set a budget", it.main).click();
  await it.button("Initiative", it.dialog).click();
  await it.dialog.getByLabel(/US dollars/).fill("40");
  await it.page.keyboard.press("Enter");
  await it.main.getByText("of $40.00").waitFor();
  expect(await budgets()).toMatchObject([{ scope: "initiative", limitUsd: 40 }]);
  await it.button("Change the budget of initiative Sell cake").click();
  await it.page.getByRole("heading", { name: "Budget of initiative Sell cake" }).waitFor();
  await it.dialog.getByLabel(/US dollars/).fill("55.5");
  await it.button("Set the budget", it.dialog).dblclick();
  await it.main.getByText("of $55.50").waitFor();
  expect(await budgets()).toMatchObject([{ scope: "initiative", limitUsd: 55.5 }]);
  await it.button("Take the budget of initiative Sell cake away").click();
  await it.said("The budget of initiative Sell cake is taken away.");
  expect(await budgets()).toEqual([]);
  await it.button("Undo").click();
  await until(async () => expect(await budgets()).toMatchObject([{ limitUsd: 55.5 }]));
});

test("a project's cw.yaml is trusted as it is shown, and what it sets up is run then", async () => {
  const refused = await it.lab.run("agent", "spawn", "--project", ".", "--provider", "claude", "Set up");
  expect(refused.stderr).toContain("trust");
  await open("/settings?tab=projects");
  await it.button("cw.yaml", it.main).click();
  await it.main.getByText("touch was-set-up").waitFor();
  await it.button("Trust this content").dblclick();
  await it.main.getByText(/^Trusted since/).waitFor();
  const agent = await it.lab.spawn("Set up", [[{ quiet: "test -e was-set-up" }, ...nothing("It was set up.")]], "--project", ".");
  expect((await it.lab.rest(agent.name)).status).toBe("idle");
});

test("tokens and other sessions are ended here", async () => {
  await open("/settings?tab=access");
  expect((await tokens()).map((one) => one.name)).toContain("wall-screen");
  await it.button("End wall-screen").dblclick();
  await it.said("wall-screen is ended.");
  await it.button("End wall-screen").waitFor({ state: "detached" });
  expect((await tokens()).map((one) => one.name)).not.toContain("wall-screen");
  const other = await signedIn(it.browser, it.lab);
  other.allow(/answer 401|no answer/);
  await live(other.page);
  const [newest] = (await tokens()).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  await it.button(`End ${newest?.name}`).click();
  await other.page.getByText("This browser has no session").waitFor();
  expect(await other.page.evaluate(() => localStorage.getItem("cw.session"))).toBeNull();
  await leave(other);
  expect((await tokens()).filter((one) => one.session)).toHaveLength(1);
  await it.main.getByText("this browser", { exact: true }).waitFor();
});

test("notifications are switched on for this browser and off again, and a hook is tried", async () => {
  await it.seen.context.grantPermissions(["notifications"]);
  await open("/settings?tab=notices");
  await it.button("Switch on").click();
  await it.main.getByText("This browser tells of new questions").waitFor();
  await open("/settings?tab=notices");
  await it.button("Switch off").click();
  await it.main.getByText("Nothing is shown on the desktop").waitFor();
  expect(await it.page.evaluate(() => localStorage.getItem("cw.desktopNotices"))).toBeNull();
  await it.button("Send a test").click();
  await it.main.getByText("The test got through").waitFor();
});

test("light or dark is kept", async () => {
  await open("/settings?tab=browser");
  await it.button("Dark", it.main).click();
  await open("/settings?tab=notices");
  expect(await it.page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  await it.page.keyboard.press("Control+k");
  await it.dialog.getByRole("combobox").waitFor();
  await it.page.keyboard.type("light or dark");
  await it.page.keyboard.press("Enter");
  await expect.poll(() => it.page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
});

test("a conversation shows its question and its answer, and the log is filtered", async () => {
  await open("/conversations");
  await it.page.getByRole("list", { name: "Conversations" }).getByText("With or without cream?").click();
  const thread = it.page.getByRole("article");
  await thread.getByText("With cream.", { exact: true }).waitFor();
  await it.button("Open", it.page.getByRole("group", { name: "Which" })).click();
  await it.page.getByText("No question waits for an answer").waitFor();
  await open("/activity");
  await it.page.getByLabel("Kind of events").selectOption("accounts");
  await it.page.waitForURL(/type=accounts/);
  await it.main.getByText(/team-2/).first().waitFor();
  expect(await it.main.getByText(/keen-marten/).count()).toBe(0);
  await it.page.getByLabel("Kind of events").selectOption("");
  await it.page.getByRole("combobox", { name: /^Agent/ }).selectOption("keen-marten");
  await it.page.waitForURL(/agent=keen-marten/);
  await it.main.getByRole("link", { name: "keen-marten" }).first().waitFor();
  expect(await it.main.getByRole("link", { name: "swift-lynx" }).count()).toBe(0);
});

test("who signs out is out, and what the browser had is worth nothing", async () => {
  it.seen.allow(/answer 401|no answer/);
  await open("/settings?tab=browser");
  await it.button("Sign out").dblclick();
  await it.page.getByText("This browser has no session").waitFor();
  expect(await it.page.evaluate(() => localStorage.getItem("cw.session"))).toBeNull();
  expect((await tokens()).filter((one) => one.session)).toEqual([]);
});
