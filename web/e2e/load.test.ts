import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, shown, signedIn, visit } from "./browser";
import { Lab } from "./lab";
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

/** From a key to the frame after it was dealt with. */
async function keyToPaint(page: Page, key: string): Promise<number> {
  const waits = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        addEventListener(
          "keydown",
          (event) => {
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - event.timeStamp)));
          },
          { once: true, capture: true },
        );
      }),
  );
  await page.keyboard.press(key);
  return waits;
}

test(`${AGENTS} agents with ${PER_SECOND} events a second each for ${SECONDS} s: the board stays quick`, async () => {
  await lab.cw("config", "set", "dispatch.machine", String(AGENTS + 1));
  lab.script("Flood the board", [{ flood: { perSecond: PER_SECOND, seconds: SECONDS + 30 + AGENTS / 4 } }, ...nothing("Flooded.")]);
  const goals = Array.from({ length: AGENTS }, (_, i) => `Flood the board, number ${i + 1}`);
  for (let i = 0; i < goals.length; i += 4) {
    await Promise.all(goals.slice(i, i + 4).map((goal) => lab.cw("agent", "spawn", "--provider", "claude", goal)));
  }
  const seen = await signedIn(browser, lab);
  await live(seen.page);
  await seen.page.getByText("Flood the board, number 1", { exact: true }).first().waitFor();
  const cdp = await seen.context.newCDPSession(seen.page);
  const before = await heap(cdp);
  await watchFrames(seen.page);
  const keys: number[] = [];
  for (const end = Date.now() + SECONDS * 1000; Date.now() < end; ) {
    keys.push(await keyToPaint(seen.page, keys.length % 8 < 4 ? "j" : "k"));
    await seen.page.waitForTimeout(150);
  }
  const took = await frames(seen.page);
  const after = await heap(cdp);
  console.log(`load: ${AGENTS} agents, ${PER_SECOND} events/s each, ${SECONDS} s`);
  console.log(`  frames: ${spread(took)}`);
  console.log(`  key to paint: ${spread(keys)}`);
  console.log(`  heap: ${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after`);
  expect(at([...keys].sort((a, b) => a - b), 0.95)).toBeLessThanOrEqual(KEY_TO_PAINT);
  expect(after - before).toBeLessThan(50e6);
  await leave(seen);
}, 600_000);

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
