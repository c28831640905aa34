import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { audit, sideways } from "./audit";
import { DESKTOP, launch, leave, PHONE, signedIn, visit } from "./browser";
import { Lab } from "./lab";
import { openShop, tour, type Shop } from "./shop";

let lab: Lab;
let browser: Browser;
let shop: Shop;

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
  shop = await openShop(lab);
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

describe.each([
  { theme: "light", screen: "desktop" },
  { theme: "dark", screen: "desktop" },
  { theme: "light", screen: "phone" },
  { theme: "dark", screen: "phone" },
] as const)("$theme on a $screen", ({ theme, screen }) => {
  test("no page has a serious finding, and none scrolls sideways", async () => {
    const size = screen === "phone" ? PHONE : DESKTOP;
    const seen = await signedIn(browser, lab, { theme, ...size });
    const found: string[] = [];
    for (const { path } of [...tour(shop), { path: "/no/such/page" }]) {
      await visit(seen, path);
      for (const finding of await audit(seen.page)) found.push(`${path}: ${finding}`);
      const wide = await sideways(seen.page);
      if (wide > 0) found.push(`${path}: scrolls ${wide} px sideways`);
    }
    expect(found).toEqual([]);
    await leave(seen);
  });
});

test("a page that does not exist says so, and so does an agent that does not", async () => {
  const seen = await signedIn(browser, lab);
  await visit(seen, "/no/such/page");
  await seen.page.getByText(/no page at this address/i).waitFor();
  await visit(seen, "/agents/no-such-agent");
  await seen.page.getByRole("alert").or(seen.page.getByText(/no agent/i)).first().waitFor();
  await leave(seen);
});
