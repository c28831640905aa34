import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { choose, makeRepo, stage, suggest, tasks, until } from "./act";
import type { Lab } from "./lab";
import { commits, done, type Step } from "./script";

const colours = [
  { id: "colour", question: "Which colour has it?", options: [{ label: "Blue" }, { label: "Red" }] },
  { id: "sizes", question: "Which sizes are there?", multiSelect: true, options: [{ label: "Small" }, { label: "Large" }] },
];

let made: Record<string, string>;

const it = stage(async (lab) => {
  await makeRepo(lab, { "src/cart.ts": "export const cart = [];\n", "check.sh": "! grep -rn FIXME src\n", "cw.yaml": "checks:\n  test: sh check.sh\n" });
  const work = (text: string, file: string) => [...commits(text, { [file]: `// ${text}\n` }), ...done(text)];
  lab.script("Show the cart", work("Show it plainly", "src/a.ts"), work("Show it with the price", "src/a.ts"));
  lab.script("Test too late", work("FIXME", "src/b.ts"), work("FIXME 2", "src/b.ts"), work("FIXME 3", "src/b.ts"), [{ wait: "mend" }, ...work("Mended", "src/b.ts")]);
  made = await tasks(lab, "Open shop", ["Show the cart", "checkpoint:verify"], ["Test too late", "auto"], ["Sign the contract", "checkpoint:action"], ["Choose the bank", "checkpoint:decision"], ["Choose the colour", "checkpoint:decision", colours]);
  const cart = (text: string, ...before: Step[]) => [...commits(text, { "src/cart.ts": `// ${text}\n` }), ...before, ...done(text)];
  lab.script("Sell from the left", cart("Left"));
  lab.script("Sell from the right", cart("Right", { wait: "left is merged" }), cart("Right 2"), cart("Right 3"), [{ wait: "resolve" }, { quiet: "git merge -q -X ours -m Both cw/busy-shop" }, ...done("Both")]);
  Object.assign(made, await tasks(lab, "Busy shop", ["Sell from the left", "auto"], ["Sell from the right", "auto"]));
  await suggest(lab, "Later on", ["Sell abroad", "Sell by post", "Sell at night"]);
  await suggest(lab, "Much later", ["Sell on the moon"]);
  await until(async () => expect(await lab.json("merge", "list", "busy-shop")).toMatchObject([{ status: "merged" }]));
  lab.signal("left is merged");
  const kinds = async () => (await lab.json<{ items: { kind: string }[] }>("inbox")).items.map((item) => item.kind).sort();
  await until(async () => expect(await kinds()).toEqual(["checkpoint", "checkpoint", "checkpoint", "checkpoint", "merge", "merge", "proposal", "proposal"]));
});

const task = (name: string) => it.lab.json<{ status: string; agentId: string; comment: string; answers?: Record<string, string> }>("task", "show", made[name] ?? "");
const proposals = async (lab: Lab) => (await lab.json<{ title: string; status: string }[]>("proposal", "list", "--status", "all")).map((one) => `${one.title}: ${one.status}`).sort();

test("a result is sent back with a note, and the next one is accepted and merged", async () => {
  const detail = await choose(it, "Show the cart");
  await detail.getByText("1 file").waitFor();
  await detail.getByLabel("Note").fill("The price is missing");
  await it.button("Send back with the note", detail).click();
  await it.said("Sent back: Show the cart");
  const { agentId } = await task("Show the cart");
  await it.lab.until(agentId, (now) => now.sessionNumber === 2 && now.status === "idle");
  expect(JSON.stringify(await it.lab.json("agent", "messages", agentId))).toContain("> The price is missing");
  await choose(it, "Show the cart");
  await it.page.keyboard.press("y");
  await it.said("Done: Show the cart");
  await until(async () => expect((await task("Show the cart")).status).toBe("done"));
});

test("work whose checks are red goes back to its agent with what was found and a note, and is merged then", async () => {
  const detail = await choose(it, "Test too late: ");
  await detail.getByText(/exit code 1/).first().waitFor();
  await detail.getByText(/Checks failed \d times/).waitFor();
  await detail.getByLabel("Note").fill("Do what the comment says");
  await it.button("Send back", detail).click();
  await it.said("goes on with it");
  await until(async () => expect((await task("Test too late")).status).toBe("running"));
  it.lab.signal("mend");
  await until(async () => expect((await task("Test too late")).status).toBe("done"));
  const sent = JSON.stringify(await it.lab.json("agent", "messages", (await task("Test too late")).agentId));
  expect(sent).toMatch(/Do what the comment says.*FIXME/);
});

test("work that conflicts goes back to its agent, and is merged when both are brought together", async () => {
  const detail = await choose(it, "Sell from the right: ");
  await detail.getByText(/It conflicted \d times/).waitFor();
  await detail.getByText("src/cart.ts").first().waitFor();
  await it.button("Send back", detail).click();
  await it.said("goes on with it");
  await until(async () => expect((await task("Sell from the right")).status).toBe("running"));
  it.lab.signal("resolve");
  await until(async () => expect((await task("Sell from the right")).status).toBe("done"));
  const { agentId } = await task("Sell from the right");
  expect(await it.lab.agent(agentId)).toMatchObject({ sessionNumber: 4 });
});

test("a person's own task is done, and a decision is made in words", async () => {
  let detail = await choose(it, "Sign the contract");
  await detail.getByLabel("Note").fill("It lies in the drawer");
  await it.button("It is done", detail).click();
  await it.said("Done: Sign the contract");
  expect(await task("Sign the contract")).toMatchObject({ status: "done", comment: "It lies in the drawer" });
  detail = await choose(it, "Choose the bank");
  expect(await it.button("Decide", detail).isDisabled()).toBe(true);
  await detail.getByLabel("Note").fill("The one around the corner");
  await it.page.keyboard.press("Control+Enter");
  await it.button("Decide", detail).click();
  await it.said("Done: Choose the bank");
  expect(await task("Choose the bank")).toMatchObject({ status: "done", comment: "The one around the corner" });
});

test("the questions of a decision are answered one after the other, and sent together", async () => {
  const detail = await choose(it, "Choose the colour");
  await detail.getByText("question 1 of 2").waitFor();
  await it.page.keyboard.press("2");
  await it.page.keyboard.press("Enter");
  await detail.getByText("Which sizes are there?").waitFor();
  expect((await task("Choose the colour")).status).not.toBe("done");
  for (const key of ["2", "1"]) await it.page.keyboard.press(key);
  await detail.getByLabel("Note").fill("As the bank has it");
  await it.button("Send answers", detail).click();
  await it.said("Done: Choose the colour");
  expect(await task("Choose the colour")).toMatchObject({ status: "done", comment: expect.stringContaining("As the bank has it") as string });
  expect(JSON.stringify(await task("Choose the colour"))).toMatch(/Red.*Small.*Large/);
});

test("an initiative whose tasks are done is landed where it waits", async () => {
  const log = () => execFileSync("git", ["log", "--format=%s", "main"], { cwd: it.lab.told.repo, env: it.lab.env, encoding: "utf8" });
  const detail = await choose(it, "open-shop can be landed");
  await detail.getByText(/2 files/).waitFor();
  expect(log()).not.toContain("Mended");
  await it.button("Land", detail).dblclick();
  await it.said("Landed open-shop");
  expect(log()).toMatch(/Mended/);
  expect(log()).toMatch(/Show it with the price/);
});

test("proposals are read, and accepted or dismissed together", async () => {
  const detail = await choose(it, "3 proposals");
  await it.button("Accept all 3", detail).click();
  await it.said("3 proposals accepted");
  const other = await choose(it, "Sell on the moon");
  await it.button("Dismiss it", other).click();
  await it.said("1 proposal dismissed");
  expect(await proposals(it.lab)).toEqual(["Sell abroad: accepted", "Sell at night: accepted", "Sell by post: accepted", "Sell on the moon: dismissed"]);
});
