import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { DESKTOP, launch, leave, PHONE, signedIn, visit } from "./browser";
import { Lab } from "./lab";
import { openShop, tour, type Shop } from "./shop";

const folder = join(import.meta.dirname, "../../docs/images");

// Only for `make pictures`: docs/images is written anew.
describe("pictures of all pages", () => {
  let lab: Lab;
  let browser: Browser;
  let shop: Shop;

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    [lab, browser] = await Promise.all([Lab.open(), launch()]);
    shop = await openShop(lab);
  });

  afterAll(async () => {
    await browser?.close();
    await lab?.close();
  });

  test.each([
    { theme: "light", screen: "desktop" },
    { theme: "dark", screen: "desktop" },
    { theme: "light", screen: "phone" },
    { theme: "dark", screen: "phone" },
  ] as const)("$theme, $screen", async ({ theme, screen }) => {
    const seen = await signedIn(browser, lab, { theme, ...(screen === "phone" ? PHONE : DESKTOP) });
    for (const { name, path } of tour(shop)) {
      if (name === "more" && screen === "desktop") continue; // a page of phones
      await visit(seen, path);
      await seen.page.waitForTimeout(500); // what is live has come
      await seen.page.screenshot({ path: join(folder, `${name}-${screen}-${theme}.png`), animations: "disabled", scale: "css" });
    }
    await leave(seen);
  });
});
