import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, live, shown, signedIn } from "./browser";
import { Lab } from "./lab";
import { nothing } from "./script";

let lab: Lab;
let browser: Browser;

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

test("a question is answered with the keyboard alone", async () => {
  const agent = await lab.spawn("Ask about rounding", [[
    { ask: { questions: [{ question: "Round per line or per order?", header: "Rounding", options: [{ label: "Per line" }, { label: "Per order" }] }] } },
    ...nothing("It is known."),
  ]]);
  await lab.until(agent.name, (now) => (now.pendingQuestions ?? []).length > 0);
  const seen = await signedIn(browser, lab);
  await seen.page.getByText("Round per line or per order?").first().waitFor();
  await live(seen.page);
  await seen.page.keyboard.press("a");
  await seen.page.keyboard.press("2");
  await seen.page.keyboard.press("Enter");
  await lab.rest(agent.name);
  const asked = await lab.json<{ question: string; answer?: string }[]>("question", "list", "--status", "all");
  expect(asked.find((one) => one.question === "Round per line or per order?")?.answer).toBe("Per order");
  await leave(seen);
});

test("the keys lead through the rows, to an agent and back, and are all told", async () => {
  await Promise.all(["Rest one", "Rest two"].map((goal) => lab.spawn(goal, [nothing("Rested.")])));
  const seen = await signedIn(browser, lab);
  await shown(seen.page);
  await live(seen.page);
  await seen.page.keyboard.press("?");
  await seen.page.getByRole("dialog").waitFor();
  await seen.page.keyboard.press("Escape");
  await seen.page.getByRole("dialog").waitFor({ state: "detached" });
  for (const key of ["j", "j", "k"]) await seen.page.keyboard.press(key);
  await seen.page.keyboard.press("Enter");
  await seen.page.waitForURL(/\/agents\//);
  // The address changes before the page does.
  await seen.page.getByRole("heading", { level: 1, name: decodeURIComponent(new URL(seen.page.url()).pathname.slice("/agents/".length)) }).waitFor();
  await shown(seen.page);
  await seen.page.keyboard.press("Escape");
  await seen.page.waitForURL((url) => url.pathname === "/");
  await leave(seen);
});

test("the first Tab leads past the sidebar, and whatever has the focus shows it", async () => {
  const seen = await signedIn(browser, lab);
  await shown(seen.page);
  await seen.page.keyboard.press("Tab");
  expect(await seen.page.evaluate(() => document.activeElement?.textContent?.trim())).toBe("Skip to content");
  const bare: string[] = [];
  for (let i = 0; i < 25; i++) {
    await seen.page.keyboard.press("Tab");
    const focus = await seen.page.evaluate(() => {
      const one = document.activeElement as HTMLElement | null;
      if (!one || one === document.body) return null;
      const style = getComputedStyle(one);
      const around = one.closest("label, tr, li, [role=row]"); // a row shows it for its link
      const ring = (s: CSSStyleDeclaration) => (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none";
      return { what: one.outerHTML.slice(0, 160), ring: ring(style) || (around !== null && ring(getComputedStyle(around))) };
    });
    if (focus && !focus.ring) bare.push(focus.what);
  }
  expect(bare).toEqual([]);
  await leave(seen);
});
