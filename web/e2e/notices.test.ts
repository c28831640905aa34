import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, signedIn, visit, type Visitor } from "./browser";
import { Lab } from "./lab";
import { nothing, type Step } from "./script";

/** What the page told on the desktop, and whether somebody looks at the page. */
interface Spied {
  told: { title: string; body: string; tag: string; notice: Notification }[];
  looked: boolean;
}

let lab: Lab;
let browser: Browser;

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

/** Runs in the page before its own scripts: notes notices down instead of showing them. The permission is the browser's own. */
function spy(): void {
  const spied: Spied = { told: [], looked: false };
  Object.assign(window, { spied });
  document.hasFocus = () => spied.looked;
  window.Notification = new Proxy(Notification, {
    construct(_, [title, options]: [string, NotificationOptions]) {
      const notice = { onclick: null, close: () => undefined } as unknown as Notification;
      spied.told.push({ title, body: options.body ?? "", tag: options.tag ?? "", notice });
      return notice;
    },
    get: (own, name) => (name === "requestPermission" ? () => own.requestPermission() : Reflect.get(own, name)),
  });
}

const told = (seen: Visitor) => seen.page.evaluate(() => (window as unknown as { spied: Spied }).spied.told.map(({ title, body }) => ({ title, body })));
const look = (seen: Visitor, looked: boolean) => seen.page.evaluate((now) => void ((window as unknown as { spied: Spied }).spied.looked = now), looked);

/** A browser that may tell, or may not, at the settings of notifications. */
async function atSettings(permissions: string[]): Promise<Visitor> {
  const seen = await signedIn(browser, lab);
  await seen.context.grantPermissions(permissions, { origin: seen.origin });
  await seen.context.addInitScript(spy);
  await visit(seen, "/settings?tab=notices");
  await live(seen.page);
  return seen;
}

/** Lets an agent ask, and waits until the page has heard of it: it says it aloud in any case. */
async function ask(seen: Visitor, name: string): Promise<void> {
  const asks: Step = { ask: { questions: [{ question: `What is it, ${name}?`, header: "What", options: [{ label: "This", description: "here" }, { label: "That", description: "there" }] }] } };
  await lab.spawn(`Let ${name} ask`, [[asks, ...nothing("It is known.")]], "--name", name);
  await seen.page.getByText(`${name} asks: What is it, ${name}?`).waitFor({ state: "attached", timeout: 60_000 });
}

test("a question and a crash are told once each, while the page is not looked at; a click leads there", async () => {
  const seen = await atSettings(["notifications"]);
  await seen.page.getByRole("button", { name: "Switch on" }).click();
  await seen.page.getByText("This browser tells of new questions and crashes while you look elsewhere.").waitFor();
  await ask(seen, "asks-one");
  await lab.spawn("Let it crash", [[{ error: "it broke" }, { exit: 3 }]], "--name", "crashes");
  await seen.page.getByText(/crashes crashed: /).waitFor({ state: "attached", timeout: 60_000 });
  await look(seen, true);
  await ask(seen, "asks-two");
  expect(await told(seen)).toEqual([
    { title: "asks-one asks", body: "What is it, asks-one?" },
    { title: "crashes crashed", body: expect.stringContaining("it broke") as string },
  ]);
  await seen.page.evaluate(() => {
    const [first] = (window as unknown as { spied: Spied }).spied.told;
    first?.notice.onclick?.call(first.notice, new Event("click"));
  });
  await seen.page.waitForURL(/\/\?item=/);
  await seen.page.locator("[data-detail]").getByText("What is it, asks-one?").first().waitFor();
  await leave(seen);
});

test("nothing is told before it is switched on, and after it was switched off; the choice is kept", async () => {
  const seen = await atSettings(["notifications"]);
  await ask(seen, "asks-early");
  await seen.page.getByRole("button", { name: "Switch on" }).click();
  await seen.page.getByRole("button", { name: "Switch off" }).waitFor();
  await visit(seen, "/settings?tab=notices");
  await live(seen.page);
  await ask(seen, "asks-amid");
  expect(await told(seen)).toEqual([{ title: "asks-amid asks", body: "What is it, asks-amid?" }]);
  await seen.page.getByRole("button", { name: "Switch off" }).click();
  await seen.page.getByText("Nothing is shown on the desktop.").waitFor();
  await ask(seen, "asks-late");
  expect(await told(seen)).toHaveLength(1);
  await leave(seen);
});

test("without the browser's permission nothing is told, and the settings say why", async () => {
  const seen = await atSettings([]);
  const button = seen.page.getByRole("button", { name: "Switch on" });
  if (await button.isEnabled()) await button.click();
  await seen.page.getByText("This browser does not allow it for this page. Its settings do.").waitFor();
  expect(await button.isDisabled()).toBe(true);
  await ask(seen, "asks-in-vain");
  expect(await told(seen)).toEqual([]);
  await leave(seen);
});
