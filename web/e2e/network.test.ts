import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { launch, leave, live, signedIn, visit, type Visitor } from "./browser";
import { Lab } from "./lab";
import { nothing, type Step } from "./script";
import { Wire } from "./wire";

const COUNTED = 40;
const all = Array.from({ length: COUNTED }, (_, i) => i + 1);

let lab: Lab;
let browser: Browser;
let wire: Wire;

beforeAll(async () => {
  lab = await Lab.open();
  wire = await Wire.to(Number(new URL(await lab.address()).port));
  browser = await launch(wire.flag);
});

afterEach(() => wire.mend());

afterAll(async () => {
  await browser?.close();
  await wire?.close();
  await lab?.close();
});

/** Says numbers in four parts, each when it is told to. */
function counting(name: string): Step[] {
  const part = (n: number): Step[] => [{ wait: `${name}-${n}` }, ...all.slice(n * 10, n * 10 + 10).map((one): Step => ({ say: `Number ${one} of all.` }))];
  return [...[0, 1, 2, 3].flatMap(part), ...nothing("All numbers are said.")];
}

async function numbers(seen: Visitor): Promise<number[]> {
  const text = await seen.page.locator("[role=log]").innerText();
  return [...text.matchAll(/Number (\d+) of all\./g)].map((one) => Number(one[1]));
}

/** Runs in the page before its own scripts: keeps the number of each event that the daemon sends. */
function writeDownIds(): void {
  const ids: number[] = [];
  Object.assign(window, { eventIds: ids });
  const ask = window.fetch.bind(window);
  window.fetch = async (input, init) => {
    const response = await ask(input, init);
    if (!String(input).startsWith("/v1/events?") || !response.ok || !response.body) return response;
    const [theirs, ours] = response.body.tee();
    const note = async () => {
      const reader = ours.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + part.value).split("\n");
        rest = lines.pop() ?? "";
        ids.push(...lines.filter((line) => line.startsWith("id:")).map((line) => Number(line.slice(3))));
      }
    };
    void note().catch(() => undefined); // it was cut
    return new Response(theirs, { status: response.status, headers: response.headers });
  };
}

const eventIds = (seen: Visitor) => seen.page.evaluate(() => (window as unknown as { eventIds: number[] }).eventIds);

/** Opens an agent that counts, with its first part seen, and every event's number written down. */
async function watch(name: string): Promise<Visitor> {
  await lab.spawn(`Count for ${name}`, [counting(name)], "--name", name);
  const seen = await signedIn(browser, lab);
  seen.allow(/no answer/);
  await seen.context.addInitScript(writeDownIds);
  await visit(seen, `/agents/${name}`);
  await live(seen.page);
  expect(wire.connections).toBeGreaterThan(0);
  await seen.page.evaluate(() => document.documentElement.setAttribute("data-same", ""));
  lab.signal(`${name}-0`);
  await seen.page.getByText("Number 10 of all.").waitFor();
  return seen;
}

async function caughtUp(seen: Visitor): Promise<void> {
  await seen.page.getByText(`Number ${COUNTED} of all.`).waitFor({ timeout: 60_000 });
  expect(await numbers(seen)).toEqual(all);
  expect(await seen.page.evaluate(() => document.documentElement.hasAttribute("data-same"))).toBe(true);
}

test("the network is cut in mid-stream: the page says so, acts are off, and it catches up without a gap or a double", async () => {
  const seen = await watch("net-cut");
  wire.cut();
  lab.signal("net-cut-1");
  await seen.page.getByRole("alert").getByText(/Connection lost \d\d:\d\d.* Trying again in \d+ s\. Agents go on working\./).waitFor();
  const stop = seen.page.getByRole("button", { name: "Stop" });
  expect(await stop.isDisabled()).toBe(true);
  expect(await stop.getAttribute("title")).toBe("Off until the connection is back");
  lab.signal("net-cut-2");
  const asks = await lab.spawn("Ask while it is cut", [[{ ask: { questions: [{ question: "Which way is it?", header: "Way", options: [{ label: "Left", description: "west" }, { label: "Right", description: "east" }] }] } }, ...nothing("It is known.")]], "--name", "net-asks");
  await lab.until(asks.name, (agent) => (agent.pendingQuestions ?? []).length > 0);
  expect(await numbers(seen)).toEqual(all.slice(0, 10));
  const before = await eventIds(seen);
  wire.mend();
  await live(seen.page);
  expect(await stop.isDisabled()).toBe(false);
  await seen.page.getByText("net-asks asks: Which way is it?").waitFor({ state: "attached" });
  lab.signal("net-cut-3");
  await caughtUp(seen);
  const ids = await eventIds(seen);
  expect(ids.length).toBeGreaterThan(before.length + 2);
  expect(ids).toEqual(ids.map((_, i) => (ids[0] ?? 0) + i));
  await leave(seen);
});

test("the page is frozen for a while: it catches up", async () => {
  const seen = await watch("net-frozen");
  const cdp = await seen.context.newCDPSession(seen.page);
  await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
  for (const part of [1, 2, 3]) lab.signal(`net-frozen-${part}`);
  await lab.rest("net-frozen");
  await cdp.send("Page.setWebLifecycleState", { state: "active" });
  await caughtUp(seen);
  await leave(seen);
});

test("away for longer than events are kept: all is read anew, and it says so", async () => {
  const seen = await watch("net-late");
  seen.allow(/answer 410/);
  wire.cut();
  await seen.page.getByRole("alert").getByText(/Connection lost/).waitFor();
  for (const part of [1, 2, 3]) lab.signal(`net-late-${part}`);
  await lab.rest("net-late");
  // The daemon says of the page's place what it says of one that is kept no longer.
  await seen.page.route("**/v1/events?*", (route) => (route.request().headers()["last-event-id"] ? route.fulfill({ status: 410, json: { code: "gone", message: "events before 4711 are no longer kept", hint: "" } }) : route.continue()));
  wire.mend();
  await seen.page.getByText("Some events are no longer to be had, so everything was read anew.").waitFor({ timeout: 30_000 });
  await live(seen.page);
  await caughtUp(seen);
  await leave(seen);
});
