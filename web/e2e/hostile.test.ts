import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, signedIn, visit, type Visitor } from "./browser";
import { readWhole, smuggled, steered } from "./detector";
import { fields, places } from "./hostilefields";
import { addresses } from "./hostileplaces";
import { architectsWrite } from "./hostileplans";
import { runsWrite, seconds } from "./hostilewrites";
import { Lab } from "./lab";
import { payloads } from "./payloads";

let lab: Lab;
let browser: Browser;
let seen: Visitor;
let address: (place: string) => string;

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
  await lab.cw("project", "add", ".");
  const [planned] = await Promise.all([architectsWrite(lab), runsWrite(lab)]);
  address = await addresses(lab, planned);
  // Lists paint what is in sight alone, so a tall window shows them in few steps.
  seen = await signedIn(browser, lab, { width: 1440, height: 3000 });
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

/** What is more than text, or ran, on the page that is open. */
async function wrong(text: string, path: string): Promise<string[]> {
  const went = new URL(seen.page.url()).pathname === new URL(path, seen.origin).pathname ? [] : [`it went to ${seen.page.url()}`];
  return [...went, ...(await smuggled(seen.page)), ...steered(text), ...seen.problems.splice(0)];
}

test.each(places)("%s: every payload of each field is shown, and is text", async (place) => {
  const path = address(place);
  await visit(seen, path);
  let { text, written } = await readWhole(seen.page);
  const missing = () => fields.filter((field) => field.at.includes(place)).flatMap((field) => field.marks.filter((one) => !text.includes(one.word) && !written.includes(one.word)).map((one) => `${field.what}: ${one.word} is not shown`));
  // What a page reads only when it is looked at comes a moment later.
  for (let again = 0; again < 3 && missing().length > 0; again++) {
    const more = await readWhole(seen.page);
    text += more.text;
    written += more.written;
  }
  expect([...missing(), ...(await wrong(text, path))]).toEqual([]);
});

test("this second: every payload is shown while it is what an agent does, and is text", async () => {
  await visit(seen, "/?find=h-second");
  for (let round = 0; round < 8; round++) {
    for (const marks of seconds()) {
      const mark = marks[round];
      if (!mark) continue;
      await seen.page.waitForFunction((word) => document.querySelector("main")?.textContent?.includes(word), mark.word, { timeout: 20_000 });
      lab.signal(`shown-${mark.word}`);
    }
    expect(await wrong(await seen.page.locator("body").innerText(), "/")).toEqual([]);
  }
});

test("the table has a place, or a reason, for each field", () => {
  expect(payloads.length).toBeGreaterThanOrEqual(40);
  expect(fields.filter((field) => field.at.length === 0 && !field.why).map((field) => field.what)).toEqual([]);
});
test("nothing was seen that is not told above", () => leave(seen));
