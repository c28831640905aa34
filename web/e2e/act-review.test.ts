import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { makeRepo, stage, tasks, until } from "./act";
import { visit } from "./browser";
import type { Agent, Lab } from "./lab";
import { commits, done } from "./script";

const money = (round: string) => `/** A price in cents. */\nexport const cents = (price: number) => Math.${round}(price * 100);\n`;

let agent: Agent;
let made: Record<string, string>;

const it = stage(async (lab) => {
  await makeRepo(lab, { "src/money.ts": money("round"), "src/cart.ts": "export const cart = [];\n", "check.sh": "! grep -rn FIXME src\n", "cw.yaml": "checks:\n  test: sh check.sh\n" });
  const cart = (text: string) => [...commits(text, { "src/cart.ts": `export const cart = ["${text}"];\n` }), ...done("The cart is shown.")];
  lab.script("Show the cart", cart("Show the cart"), cart("Show the price"));
  lab.script("Break the checks", [...commits("Break the checks", { "src/late.ts": "// FIXME\n" }), ...done("It is late.")], [{ hang: true }]);
  [agent, made] = await Promise.all([
    lab.spawn("Round down", [[...commits("Round down", { "src/money.ts": money("floor"), "src/more.ts": "export {};\n" }), ...done("Rounded.")], done("As you said.")], "--project", "."),
    tasks(lab, "Open shop", ["Show the cart", "checkpoint:verify"], ["Break the checks", "checkpoint:verify"]),
  ]);
  await lab.rest(agent.name);
  await until(async () => expect((await statuses(lab)).filter((one) => one === "queued")).toHaveLength(2));
});

const statuses = async (lab: Lab) => (await lab.json<{ status: string }[]>("merge", "list", "open-shop")).map((one) => one.status);
const git = (...args: string[]) => execFileSync("git", args, { cwd: it.lab.told.repo, env: it.lab.env, encoding: "utf8" });
const diff = () => it.page.getByRole("region", { name: "Diff" });

test("files are marked as viewed, and a diff is read side by side or not; both are kept", async () => {
  await visit(it.seen, `/review/agent/${agent.name}`);
  await it.button("Unified").click();
  await diff().getByText("Math.floor(").waitFor();
  await it.button("Mark viewed", diff()).click();
  await it.button("Viewed", diff()).waitFor();
  await diff().getByText("Math.floor(").waitFor({ state: "detached" });
  await visit(it.seen, `/review/agent/${agent.name}`);
  await it.button("Viewed", diff()).waitFor();
  expect(await it.button("Unified").getAttribute("aria-pressed")).toBe("true");
  await it.button("Viewed", diff()).click();
  await it.button("Split").click();
  await diff().getByText("Math.round(").waitFor();
});

test("a remark on a line is sent to the agent with its file, its line and its words", async () => {
  await diff().getByRole("button", { name: "Comment on line 2" }).last().click();
  await it.page.keyboard.type("Why not round half to even?");
  await it.button("Keep", diff()).click();
  await it.button("Send 1 comment").click();
  await it.dialog.getByText("src/money.ts:2").waitFor();
  await it.button(/^Send$/, it.dialog).dblclick();
  await it.said(`Sent to ${agent.name}`);
  await it.lab.until(agent.name, (now) => now.sessionNumber === 2 && now.status === "idle");
  const sent = (await it.lab.json<{ body: string }[]>("agent", "messages", agent.name)).filter((one) => one.body.includes("Why not round half to even?"));
  expect(sent).toHaveLength(1);
  expect(sent[0]?.body).toMatch(/src\/money\.ts:2\n> export const cents .*floor.*\nWhy not round half to even\?/);
  expect(await it.page.getByText("Why not round half to even?").count()).toBe(0);
});

test("red checks stop a merge, and say why", async () => {
  await visit(it.seen, `/review/task/${made["Break the checks"]}`);
  await it.button("Merge when green").dblclick();
  await it.said("Accepted");
  await it.page.getByText("The checks are red on the merged commit.").waitFor();
  await it.page.getByText("What was found last").click();
  await it.main.getByText(/late\.ts:1:.*FIXME/).first().waitFor();
  expect(await it.lab.json("initiative", "diff", "open-shop")).toMatchObject({ stat: { filesChanged: 0 } });
  expect(await statuses(it.lab)).toContain("red");
});

test("work is sent back with a comment, merged when it is green, and landed", async () => {
  const task = made["Show the cart"] ?? "";
  await visit(it.seen, `/review/task/${task}`);
  await it.page.getByLabel("Comment for whoever works on it next").fill("Show the price, too");
  await it.button("Send back").click();
  await it.said("Sent back with your comment");
  const { agentId } = await it.lab.json<{ agentId: string }>("task", "show", task);
  await it.lab.until(agentId, (now) => now.sessionNumber === 2 && now.status === "idle");
  expect(JSON.stringify(await it.lab.json("agent", "messages", agentId))).toContain("> Show the price, too");
  await diff().getByText("Show the price").waitFor();
  await it.button("Merge when green").click();
  await it.page.getByText("Merged onto").waitFor();
  expect(git("log", "--format=%s", "main")).not.toContain("Show the price");
  await visit(it.seen, "/review/initiative/open-shop");
  await it.button("Land what is merged so far").click();
  await it.button("Land", it.main).click();
  await it.button("Land", it.dialog).click();
  await it.said("Landed");
  expect(git("log", "--format=%s", "main")).toContain("Show the price");
  await it.page.getByText("main of shop has everything already.").waitFor();
});
