import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, shown, signedIn, visit, type Visitor } from "./browser";
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

/** How many numbers are said before the agent waits to be told to go on. */
const PART = 10;
const PARTS = 9;

/** Says numbers in parts, each when it is signalled. */
function counting(): Step[] {
  const steps: Step[] = [];
  for (let part = 0; part < PARTS; part++) {
    steps.push({ wait: `part-${part}` });
    for (let n = part * PART + 1; n <= (part + 1) * PART; n++) steps.push({ say: `Number ${n} of all.` });
  }
  return [...steps, { wait: "counted" }, ...nothing("All numbers are said.")];
}

/** Runs in every page before its own scripts. A browser without a window takes all its tabs for visible, so which one is in front is said by the test. */
function driven(): void {
  let state: DocumentVisibilityState = "visible";
  Object.defineProperty(document, "visibilityState", { get: () => state });
  addEventListener("test:look", (event) => {
    state = (event as CustomEvent<DocumentVisibilityState>).detail;
    document.dispatchEvent(new Event("visibilitychange"));
  });
}

const look = (page: Page, state: DocumentVisibilityState) => page.evaluate((detail) => void dispatchEvent(new CustomEvent("test:look", { detail })), state);

/** Brings a tab to the front, or opens a new one there: the others are hidden. */
async function front(tabs: Page[], page: Page): Promise<void> {
  for (const other of tabs) if (other !== page) await look(other, "hidden");
  await page.bringToFront();
  await look(page, "visible");
}

async function until(is: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 30_000; !(await is()); await sleep(100)) {
    if (Date.now() > end) throw new Error(`not within 30 s: ${what}`);
  }
}

/** Whether a tab's own request is answered, however many streams stand. */
const answered = (page: Page) =>
  page.evaluate(() => Promise.race([fetch("/healthz").then((answer) => answer.ok), new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 10_000))]));

/** How each tab says that its stream stands. */
const standing = (tabs: Page[]) => Promise.all(tabs.map((page) => page.getByRole("contentinfo").locator("span").first().innerText()));
const count = (words: string[], word: string) => words.filter((one) => one.includes(word)).length;

async function numbers(page: Page): Promise<number[]> {
  const text = await page.locator("main#main").innerText();
  return [...text.matchAll(/Number (\d+) of all\./g)].map((one) => Number(one[1]));
}

/** Eight tabs of one browser: an agent's page in each second one. */
async function eightTabs(seen: Visitor, agent: string): Promise<Page[]> {
  const tabs = [seen.page];
  while (tabs.length < 8) {
    const page = await seen.context.newPage();
    await front(tabs, page);
    await page.goto(seen.origin + (tabs.length % 2 === 1 ? `/agents/${agent}` : "/"));
    await shown(page);
    tabs.push(page);
  }
  return tabs;
}

test("eight tabs: all load and are answered, the one in front is live, and each that comes to the front catches up", async () => {
  const agent = await lab.spawn("Count for many tabs", [counting()]);
  lab.signal("part-0");
  const seen = await signedIn(browser, lab);
  seen.allow(/^window: /);
  await seen.context.addInitScript(driven);
  await visit(seen, "/");
  await live(seen.page);
  const tabs = await eightTabs(seen, agent.name);
  const [first, ...others] = tabs as [Page, ...Page[]];

  for (const [i, page] of tabs.entries()) {
    if (i > 0) lab.signal(`part-${i}`); // while all agent pages but perhaps one are hidden
    await front(tabs, page);
    await live(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await Promise.all(tabs.map(answered))).toEqual(tabs.map(() => true));
    if (i % 2 === 0) continue;
    const all = Array.from({ length: (i + 1) * PART }, (_, n) => n + 1);
    await page.getByText(`Number ${all.length} of all.`).waitFor({ timeout: 30_000 });
    expect(await numbers(page)).toEqual(all);
  }

  // The last one is in front, and one of the hidden ones keeps its stream: the first, which asked for the lock first.
  await until(async () => count(await standing(tabs), "Live") === 2, "two tabs are live");
  expect((await standing([first]))[0]).toContain("Live");
  expect(count(await standing(others), "Resting")).toBe(6);

  await first.close();
  await until(async () => count(await standing(others), "Live") === 2, "another tab keeps its stream in place of the one that was closed");
  expect(count(await standing(others), "Resting")).toBe(5);
  lab.signal("counted");
  await leave(seen);
});

test("signing out in one tab is seen in the others", async () => {
  const seen = await signedIn(browser, lab);
  seen.allow(/^window: /);
  await live(seen.page);
  const other = await seen.context.newPage();
  await other.goto(`${seen.origin}/activity`);
  await shown(other);
  await other.evaluate(() => localStorage.removeItem("cw.session"));
  await until(async () => (await seen.page.getByText(/This browser has no session/).count()) === 1, "the other tab asks for cw open");
  await leave(seen);
});
