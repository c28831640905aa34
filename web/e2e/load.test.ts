import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, shown, signedIn, visit, visitor } from "./browser";
import { Lab, type Agent } from "./lab";
import { nothing } from "./script";

/** Small by default: a lane has no time for more. The figures are told for 200 agents over 60 s. */
const AGENTS = Number(process.env.CW_AGENTS ?? 20);
const SECONDS = Number(process.env.CW_SECONDS ?? 10);
const PER_SECOND = 20;
const LONG = Number(process.env.CW_EVENTS ?? 100_000);

/** What the design promises, from a key to the paint that shows it. */
const KEY_TO_PAINT = 100;

let lab: Lab;
let browser: Browser;

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch("--enable-precise-memory-info", "--js-flags=--expose-gc")]);
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

const at = (sorted: number[], share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
const ms = (n: number) => `${n.toFixed(0)} ms`;
function spread(times: number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  return `p50 ${ms(at(sorted, 0.5))}, p95 ${ms(at(sorted, 0.95))}, max ${ms(sorted.at(-1) ?? 0)} of ${times.length}`;
}

/** Live bytes on the heap, after the garbage is gone. */
async function heap(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize;
}

/** Begins to write down how long each frame takes. */
const watchFrames = (page: Page) =>
  page.evaluate(() => {
    const frames: number[] = [];
    let before = performance.now();
    const next = (now: number) => {
      frames.push(now - before);
      before = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    (window as unknown as { frames: number[] }).frames = frames;
  });
const frames = (page: Page) => page.evaluate(() => (window as unknown as { frames: number[] }).frames.slice(1));

/** Begins to write down how long each key takes, up to the frame after it was dealt with. */
const watchKeys = (page: Page) =>
  page.evaluate(() => {
    const keys: number[] = [];
    (window as unknown as { keys: number[] }).keys = keys;
    const heard = (event: KeyboardEvent) => requestAnimationFrame(() => setTimeout(() => keys.push(performance.now() - event.timeStamp)));
    addEventListener("keydown", heard, { capture: true });
  });
const keys = (page: Page) => page.evaluate(() => (window as unknown as { keys: number[] }).keys);

/** Presses a key, and waits until the frame after it was painted. */
async function press(page: Page, key: string, nth: number): Promise<void> {
  await page.keyboard.press(key);
  await page.waitForFunction((n) => (window as unknown as { keys: number[] }).keys.length > n, nth);
}

/** What a browser with nothing stored loads and waits for until agents stand on the first page. */
async function firstLoad(): Promise<{ bytes: number; painted: number; standing: number }> {
  const address = await lab.address();
  const seen = await visitor(browser, new URL(address).origin);
  const begun = Date.now();
  await seen.page.goto(address);
  await seen.page.getByText("Flood the board, number").first().waitFor();
  const standing = Date.now() - begun;
  const { bytes, painted } = await seen.page.evaluate(() => {
    const loads = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")] as PerformanceResourceTiming[];
    const files = loads.filter((one) => !new URL(one.name).pathname.startsWith("/v1/"));
    return { bytes: files.reduce((sum, one) => sum + one.encodedBodySize, 0), painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0 };
  });
  await leave(seen);
  return { bytes, painted, standing };
}

/** How many lines the agents wrote so far: the files that cw follows say it. */
function written(names: string[]): number {
  return names.reduce((sum, name) => sum + readFileSync(join(lab.told.home, "runs", name, "1", "output.jsonl")).filter((byte) => byte === 10).length, 0);
}

test(`${AGENTS} agents with ${PER_SECOND} events a second each for ${SECONDS} s: the board stays quick`, async () => {
  lab.script("Flood the board", [{ wait: "go" }, { flood: { perSecond: PER_SECOND, seconds: SECONDS + 30 } }, { hang: true }]);
  const names: string[] = [];
  for (let i = 0; i < AGENTS; i += 4) {
    const goals = Array.from({ length: Math.min(4, AGENTS - i) }, (_, n) => `Flood the board, number ${i + n + 1}`);
    const begun = await Promise.all(goals.map((goal) => lab.json<Agent>("agent", "spawn", "--provider", "claude", goal)));
    names.push(...begun.map((one) => one.name));
  }
  await Promise.all(names.slice(-4).map((name) => lab.until(name, (one) => one.status === "running")));
  const seen = await signedIn(browser, lab);
  await live(seen.page);
  await seen.page.getByText("Flood the board, number", { exact: false }).first().waitFor();
  const cdp = await seen.context.newCDPSession(seen.page);
  const before = await heap(cdp);
  await watchKeys(seen.page);
  lab.signal("go");
  await seen.page.waitForTimeout(5000); // all of them look for it within a second
  const [from, lines] = [Date.now(), written(names)];
  await watchFrames(seen.page);
  let pressed = 0;
  let half = 0;
  for (const end = from + SECONDS * 1000; Date.now() < end; pressed++) {
    if (half === 0 && Date.now() > end - SECONDS * 500) half = await heap(cdp);
    await press(seen.page, pressed % 8 < 4 ? "j" : "k", pressed);
    await seen.page.waitForTimeout(150);
  }
  const [took, waits] = [await frames(seen.page), await keys(seen.page)];
  const perSecond = ((written(names) - lines) * 1000) / (Date.now() - from);
  const after = await heap(cdp);
  await live(seen.page); // it is not behind
  console.log(`load: ${AGENTS} agents, ${perSecond.toFixed(0)} events/s of all, ${SECONDS} s`);
  const first = await firstLoad();
  console.log(`  first load, nothing stored: ${(first.bytes / 1000).toFixed(1)} kB, painted after ${ms(first.painted)}, agents stand after ${ms(first.standing)}`);
  console.log(`  frames: ${spread(took)}`);
  console.log(`  key to paint: ${spread(waits)}`);
  console.log(`  heap: ${(before / 1e6).toFixed(1)} MB before, ${(half / 1e6).toFixed(1)} MB after half of the time, ${(after / 1e6).toFixed(1)} MB after`);
  expect(at([...waits].sort((a, b) => a - b), 0.95)).toBeLessThanOrEqual(KEY_TO_PAINT);
  expect(perSecond).toBeGreaterThan(0.8 * AGENTS * PER_SECOND);
  expect(after - half).toBeLessThan(5e6); // it would grow for as long as the tab is open
  await leave(seen);
}, 900_000);

test(`${LONG} events of one agent: the conversation opens and scrolls`, async () => {
  const agent = await lab.spawn("Say very much", [[{ flood: { count: LONG } }, { say: "This is the very last word." }, ...nothing("Said.")]]);
  for (const end = Date.now() + 300_000; (await lab.agent(agent.name)).status !== "idle"; await new Promise((done) => setTimeout(done, 500))) {
    if (Date.now() > end) throw new Error("it does not come to its end");
  }
  const seen = await signedIn(browser, lab);
  const cdp = await seen.context.newCDPSession(seen.page);
  const begun = Date.now();
  await visit(seen, `/agents/${agent.name}`);
  await seen.page.getByText("This is the very last word.").first().waitFor({ timeout: 60_000 });
  const opened = Date.now() - begun;
  const before = await heap(cdp);
  await watchFrames(seen.page);
  const box = await seen.page.locator("main#main").boundingBox();
  await seen.page.mouse.move((box?.x ?? 0) + 300, (box?.y ?? 0) + 300);
  for (let i = 0; i < 60; i++) {
    await seen.page.mouse.wheel(0, -800);
    await seen.page.waitForTimeout(30);
  }
  await shown(seen.page);
  const took = await frames(seen.page);
  const after = await heap(cdp);
  const nodes = await seen.page.evaluate(() => document.querySelectorAll("*").length);
  console.log(`load: ${LONG} events of one agent`);
  console.log(`  open to last word: ${ms(opened)}`);
  console.log(`  frames while scrolling: ${spread(took)}`);
  console.log(`  heap: ${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after; ${nodes} elements`);
  expect(nodes).toBeLessThan(6000);
  expect(opened).toBeLessThan(10_000);
  await leave(seen);
}, 600_000);
