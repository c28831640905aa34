import { expect, test } from "vitest";
import { makeRepo, stage, suggest, until } from "./act";
import { live, visit } from "./browser";

interface Whole {
  work: { hold?: boolean };
  phases: { id: string; name: string; status: string }[];
  tasks: { id: string; name: string; status: string; type: string; paths: string[] }[];
  pages: { id: string; title: string; revision: number }[];
}

let later = "";
let muchLater = "";

const it = stage(async (lab) => {
  // A task that fails is not tried again by itself, which takes its time.
  await lab.cw("config", "set", "dispatch.retries", "0");
  await lab.cw("restart");
  await makeRepo(lab, { "cart.txt": "tea\n" });
  later = await suggest(lab, "Later on", ["Sell abroad", "Sell by post", "Sell at night"]);
  muchLater = await suggest(lab, "Far future", ["Sell on the moon", "Sell on Mars"]);
  lab.script("Try and fail", [{ signal: { status: "error", error: "there is no oven" } }]);
});

const whole = (slug = "sell-cake") => it.lab.json<Whole>("initiative", "show", slug);
const text = async (id: string) => it.lab.cw("page", "show", id, "--raw");
const tree = () => it.page.getByRole("region", { name: "Tasks" });

test("an initiative, its phase and a task are made", async () => {
  await visit(it.seen, "/initiatives");
  await live(it.page);
  await it.page.keyboard.press("Shift+C");
  await it.dialog.getByLabel("Name").fill("Sell cake");
  await it.dialog.getByLabel("Goal").fill("Everybody has **cake**.");
  await it.dialog.getByRole("checkbox", { name: /shop/ }).check();
  await it.button("Make it", it.dialog).dblclick();
  await it.page.waitForURL(/\/initiatives\/sell-cake$/);
  expect((await it.lab.json<{ slug: string }[]>("initiative", "list")).map((one) => one.slug).sort()).toEqual(["far-future", "later-on", "sell-cake"]);
  expect(await whole()).toMatchObject({ name: "Sell cake", goal: "Everybody has **cake**.", projects: [{ name: "shop" }] });
  await it.lab.cw("initiative", "edit", "sell-cake", "--provider", "claude");
  const paused = tree().getByText("Paused: no more tasks are started.");
  await paused.waitFor(); // a new initiative is, until somebody starts its tasks
  await it.button("Start tasks").click();
  await paused.waitFor({ state: "detached" });
  await it.button("Pause").click();
  await paused.waitFor();
  expect((await whole()).work.hold).toBe(true);
  await it.button("New phase", tree()).click();
  await it.dialog.getByLabel("Name").fill("Bake");
  await it.page.keyboard.press("Enter");
  await tree().getByText("1 Bake").waitFor();
  await it.button("New task", tree()).click();
  await it.dialog.getByLabel("Name").fill("Try and fail");
  await it.dialog.getByLabel("May touch").fill("cake/**\nREADME.md");
  await it.button("Make the task", it.dialog).click();
  await tree().getByRole("button", { name: /Try and fail/ }).click();
  expect((await whole()).phases).toMatchObject([{ name: "Bake" }]);
  expect((await whole()).tasks).toMatchObject([{ name: "Try and fail", type: "auto", paths: ["cake/**", "README.md"] }]);
});

test("an initiative that was paused goes on; a task that failed is tried again, cancelled, and taken up when it is undone", async () => {
  const id = (await whole()).tasks[0]?.id ?? "";
  const task = () => it.lab.json<{ status: string; agentId?: string }>("task", "show", id);
  const status = async () => (await task()).status;
  await it.button("Start tasks").click();
  await until(async () => expect(await status()).toBe("blocked"));
  await it.main.getByText("there is no oven").first().waitFor();
  expect((await whole()).work.hold).not.toBe(true);
  const tries = async () => (await it.lab.json<unknown[]>("agent", "list", "--initiative", "sell-cake")).length;
  const [{ agentId }, before] = await Promise.all([task(), tries()]);
  await it.button("Retry", it.main).dblclick();
  await until(async () => expect((await task()).agentId).not.toBe(agentId));
  await until(async () => expect(await status()).toBe("blocked"));
  expect(await tries()).toBe(2 * before);
  await it.button("Retry", it.main).waitFor();
  await it.button("Cancel", it.main).click();
  await it.said("Try and fail is cancelled");
  expect(await status()).toBe("cancelled");
  await it.button("Undo").click();
  await until(async () => expect(await status()).not.toBe("cancelled"));
});

test("what is written in the editor is stored by itself, and what somebody else writes meanwhile is not lost", async () => {
  await visit(it.seen, "/initiatives/sell-cake");
  await live(it.page);
  const [page] = (await whole()).pages;
  const id = page?.id ?? "";
  await it.page.keyboard.press("e");
  await it.page.keyboard.type(" With cream.");
  await it.main.getByText(/^Saved/).waitFor();
  expect(await text(id)).toContain("Everybody has **cake**. With cream.");
  // The page does not hear of the other text before it sends its own.
  let theirs = false;
  await it.page.route(/\/v1\/pages\/\w+\/document$/, async (route) => {
    if (route.request().method() === "POST" && !theirs) {
      theirs = true;
      await it.lab.runWith("Everybody has tea.", "page", "edit", id, "--body", "-");
    }
    await route.continue();
  });
  await it.page.keyboard.type(" And tea.");
  const conflict = it.page.getByRole("alert").filter({ hasText: "changed this page while you wrote" });
  await conflict.getByText("Everybody has tea.").waitFor();
  await conflict.getByText("With cream. And tea.").waitFor();
  expect(await text(id)).toContain("Everybody has tea.");
  await it.button("Keep mine", conflict).click();
  await it.main.getByText(/^Saved/).waitFor();
  expect(await text(id)).toContain("With cream. And tea.");
});

test("a page is made, renamed, removed, and comes back when it is undone", async () => {
  const titles = async () => (await whole()).pages.map((one) => one.title);
  await it.page.keyboard.press("Escape");
  await it.button("New page", it.main).click();
  await it.dialog.getByLabel("Title").fill("Recipes");
  await it.button("Make the page", it.dialog).click();
  await it.button("Rename, move or remove Recipes").click();
  await it.dialog.getByLabel("Title").fill("How to bake");
  await it.page.keyboard.press("Enter");
  await it.button("Rename, move or remove How to bake").click();
  expect(await titles()).toEqual(["Sell cake", "How to bake"]);
  await it.button("Remove", it.dialog).click();
  await it.said("How to bake is removed");
  expect(await titles()).toEqual(["Sell cake"]);
  await it.button("Undo").click();
  await until(async () => expect(await titles()).toEqual(["Sell cake", "How to bake"]));
});

test("proposals are dismissed with a reason and accepted one by one; the graph and the timeline are switched", async () => {
  const decided = async () => (await it.lab.json<{ status: string; note?: string }[]>("proposal", "list", "--status", "all")).map((one) => [one.status, one.note].filter(Boolean).join(": ")).sort();
  await visit(it.seen, `/initiatives/${later}`);
  await live(it.page);
  const pane = it.page.getByRole("complementary", { name: "Proposals" });
  await it.button("Dismiss", pane.getByRole("article", { name: /Sell abroad/ })).click();
  await it.page.keyboard.type("Not yet");
  await it.page.keyboard.press("Enter");
  await it.said("1 proposal dismissed");
  await it.button("Accept", pane.getByRole("article", { name: /Sell by post/ })).click();
  await it.said("1 proposal accepted");
  await pane.getByText("1 open").waitFor();
  await it.button("Accept", pane).click({ trial: true }); // nothing is being decided any more
  await it.page.keyboard.press("y");
  await pane.getByText("none open").waitFor();
  expect(await decided()).toEqual(["accepted", "accepted", "dismissed: Not yet", "open", "open"]);
  expect((await whole(later)).phases.map((one) => one.name).sort()).toEqual(["Sell at night", "Sell by post"]);
  await it.page.keyboard.press("t");
  await it.page.getByRole("region", { name: "Timeline" }).getByText(/Sell by post/).first().waitFor();
  await visit(it.seen, `/initiatives/${muchLater}`);
  await live(it.page);
  await it.button("Accept all", pane).dblclick();
  await it.said("2 proposals accepted");
  await pane.getByText("none open").waitFor();
  expect((await whole(muchLater)).phases.map((one) => one.name).sort()).toEqual(["Sell on Mars", "Sell on the moon"]);
  await visit(it.seen, "/initiatives/sell-cake");
  await live(it.page);
  const graph = it.page.getByRole("region", { name: "Dependencies" });
  await graph.waitFor();
  await it.page.keyboard.press("g");
  await graph.waitFor({ state: "detached" });
  await visit(it.seen, "/initiatives/sell-cake");
  expect(await graph.count()).toBe(0);
});
