import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, signedIn, visit, type Visitor } from "./browser";
import { Lab, sleep } from "./lab";
import { nothing, type Step } from "./script";

let lab: Lab;
let browser: Browser;

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

const COUNTED = 60;

/** Says one number after the other, so that a gap or a double is seen. */
function counting(until: string): Step[] {
  const steps: Step[] = [];
  for (let n = 1; n <= COUNTED; n++) steps.push({ say: `Number ${n} of all.` }, { sleep: 150 });
  return [...steps, { wait: until }, ...nothing("All numbers are said.")];
}

/** The numbers on the page, in their order. */
async function numbers(seen: Visitor): Promise<number[]> {
  const text = await seen.page.locator("main#main").innerText();
  return [...text.matchAll(/Number (\d+) of all\./g)].map((one) => Number(one[1]));
}

const all = Array.from({ length: COUNTED }, (_, i) => i + 1);

/** Marks the document, so that a reload is noticed. */
const mark = (seen: Visitor) => seen.page.evaluate(() => document.documentElement.setAttribute("data-same", ""));
const same = (seen: Visitor) => seen.page.evaluate(() => document.documentElement.hasAttribute("data-same"));

async function untilCounted(seen: Visitor): Promise<void> {
  await seen.page.getByText(`Number ${COUNTED} of all.`).waitFor({ timeout: 60_000 });
}

test("the daemon is killed in mid-stream: the page says so, and goes on without a gap or a double", async () => {
  const agent = await lab.spawn("Count through a crash", [counting("counted-1")]);
  const seen = await signedIn(browser, lab);
  seen.allow(/no answer/);
  await visit(seen, `/agents/${agent.name}`);
  await live(seen.page);
  await mark(seen);
  await seen.page.getByText("Number 5 of all.").waitFor();
  await lab.kill();
  await seen.page.getByRole("alert").getByText(/Connection lost .* Trying again in \d+ s\. Agents go on working\./).waitFor();
  await sleep(1500);
  await lab.start();
  await live(seen.page);
  expect(await seen.page.getByText(/Connection lost/).count()).toBe(0);
  await untilCounted(seen);
  expect(await numbers(seen)).toEqual(all);
  expect(await same(seen)).toBe(true);
  lab.signal("counted-1");
  await leave(seen);
});

test("the network is cut: the page catches up without a reload", async () => {
  const agent = await lab.spawn("Count without a network", [counting("counted-2")]);
  const seen = await signedIn(browser, lab);
  seen.allow(/no answer/);
  await visit(seen, `/agents/${agent.name}`);
  await live(seen.page);
  await mark(seen);
  await seen.page.getByText("Number 5 of all.").waitFor();
  await seen.context.setOffline(true);
  await cutStreams(seen);
  await seen.page.getByText(/Connection lost/).first().waitFor({ timeout: 60_000 });
  await sleep(2000);
  await seen.context.setOffline(false);
  await live(seen.page);
  await untilCounted(seen);
  expect(await numbers(seen)).toEqual(all);
  expect(await same(seen)).toBe(true);
  lab.signal("counted-2");
  await leave(seen);
});

/** Going offline lets streams that stand go on over loopback: the daemon's restart cuts them. */
async function cutStreams(seen: Visitor): Promise<void> {
  void seen;
  await lab.kill();
  await lab.start();
}

test("a new agent and its end are shown without a reload", async () => {
  const seen = await signedIn(browser, lab);
  await live(seen.page);
  await mark(seen);
  const agent = await lab.spawn("Appear and go to rest", [[{ say: "Here." }, { wait: "rest-now" }, ...nothing("It is done.")]]);
  await seen.page.locator("main#main").getByText(agent.name).first().waitFor({ timeout: 20_000 });
  lab.signal("rest-now");
  await lab.rest(agent.name);
  await seen.page.waitForFunction((name) => new RegExp(`Idle\\s*${name}`).test(document.querySelector("main#main")?.textContent ?? ""), agent.name, { timeout: 20_000 });
  expect(await same(seen)).toBe(true);
  await leave(seen);
});

test("two browsers answer the same question: one wins, the other says who and what", async () => {
  const agent = await lab.spawn("Ask which colour", [[
    { ask: { questions: [{ question: "Which colour shall the button be?", header: "Colour", options: [{ label: "Blue", description: "as the logo" }, { label: "Red", description: "as the sale" }] }] } },
    ...nothing("The colour is known."),
  ]]);
  await lab.until(agent.name, (now) => (now.pendingQuestions ?? []).length > 0);
  const [one, two] = await Promise.all([signedIn(browser, lab), signedIn(browser, lab)]);
  two.allow(/no answer/);
  await Promise.all([one, two].map((seen) => seen.page.getByText("Which colour shall the button be?").first().waitFor()));
  // The second one does not hear of the first one's answer before it sends its own.
  await two.page.route("**/v1/events*", (route) => route.abort());
  await choose(one, "Blue");
  await choose(two, "Red");
  await one.page.getByRole("button", { name: /Send answer/ }).first().click();
  await lab.rest(agent.name);
  const send = two.page.getByRole("button", { name: /Send answer/ }).first();
  if (await send.isVisible()) await send.click({ timeout: 2000 }).catch(() => undefined); // it may have heard meanwhile
  await two.page.getByText(/answered/i).first().waitFor({ timeout: 20_000 });
  expect(await two.page.locator("main#main").innerText()).toMatch(/answered[^.]*Blue/is);
  const [stored] = await lab.json<{ answer: string; status: string }[]>("question", "list", "--status", "all", "--agent", agent.name);
  expect(stored).toMatchObject({ status: "answered", answer: "Blue" });
  await leave(one);
  await leave(two);
});

async function choose(seen: Visitor, label: string): Promise<void> {
  await seen.page.getByRole("radio", { name: label }).first().check({ force: true });
}
