import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, visitor, type Visitor } from "./browser";
import { smuggled, steered } from "./detector";
import { payloads } from "./payloads";

// What looks for unsafe text must find it: here is a page that does what the dashboard never does.

const ORIGIN = "http://unsafe.invalid";
let browser: Browser;
let seen: Visitor;

beforeAll(async () => {
  browser = await launch();
  seen = await visitor(browser, ORIGIN);
  await seen.page.route("**", (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin !== ORIGIN) return route.abort("aborted");
    if (pathname === "/refused") return route.fulfill({ status: 403 });
    const headers: Record<string, string> = pathname === "/strict" ? { "Content-Security-Policy": "img-src 'none'" } : {};
    return route.fulfill({ contentType: "text/html", headers, body: "<!doctype html><link rel=icon href=data:,><main id=main></main>" });
  });
});

afterAll(() => browser?.close());

/** Takes a text for HTML. */
async function sink(html: string, path = "/"): Promise<void> {
  await seen.page.goto(ORIGIN + path);
  seen.problems.length = 0;
  await seen.page.evaluate((text) => {
    // eslint-disable-next-line no-restricted-syntax -- this is what must be found
    (document.querySelector("main") as HTMLElement).innerHTML = text;
  }, html);
}

test.each([
  ["a handler", "<b onclick=1>x</b>", "b has onclick"],
  ["a link to a script", '<a href="javascript:1">x</a>', "a leads by href"],
  ["the same with a tab in it", '<a href="java&#x09;script:1">x</a>', "a leads to javascript:"],
  ["a form that runs", '<form action=" javascript:1"></form>', "form leads by action"],
  ["a style that loads", '<b style="background:url(/x)">x</b>', "b loads by its style"],
  ["a frame", "<iframe></iframe>", "iframe does not belong here"],
  ["a script", "<script src=https://evil.invalid/x.js></script>", "script is a script"],
  ["a script of a drawing", "<svg><script>1</script></svg>", "script is a script"],
  ["a foreign picture", "<img src=https://evil.invalid/x.png>", "img is a foreign picture"],
  ["a window with an opener", '<a href="/x" target="_blank" rel="opener">x</a>', "a opens with an opener"],
])("%s is found in the page", async (_, html, found) => {
  await sink(html);
  expect((await smuggled(seen.page)).join("\n")).toContain(`${found}: `);
});

test.each([
  ["a text that runs", "<img src=/x onerror=window.__pwned=1>", "console: PWNED 1"],
  ["a foreign request", "<img src=https://evil.invalid/x.png>", "foreign request: https://evil.invalid/x.png"],
  ["a dialog", "<img src=/x onerror=alert('boo')>", "dialog: boo"],
  ["a window", "<img src=/x onerror=window.open('/other')>", "window: "],
  ["an error of a script", "<img src=/x onerror=\"throw new Error('lost')\">", "page: Error: lost"],
  ["a word on the console", "<img src=/x onerror=console.error('said')>", "console: said"],
  ["a request that is refused", "<img src=/refused>", `answer 403: ${ORIGIN}/refused`],
])("%s is noticed", async (_, html, noticed) => {
  await sink(html);
  await expect.poll(() => seen.problems.join("\n"), { timeout: 20_000 }).toContain(noticed);
});

test("what breaks the policy is noticed", async () => {
  await sink("<img src=/x>", "/strict");
  await expect.poll(() => seen.problems.join("\n"), { timeout: 20_000 }).toContain(`policy: img-src ${ORIGIN}/x`);
});

test("characters that steer are found in what a page shows", async () => {
  for (const sign of ["\u0007", "\u001b[31m", "\u009b", "\u200b", "\u202e", "\u2066", "\ufeff"]) {
    await seen.page.locator("main").evaluate((main, text) => (main.textContent = text), `before${sign}after`);
    expect(steered((await seen.page.locator("body").textContent()) ?? "")).toHaveLength(1);
  }
  expect(steered("Two lines\nand a\ttab: ä, 漢, 🙂")).toEqual([]);
});

test("each payload that HTML can run is found when it is taken for HTML", async () => {
  // These are for Markdown, templates and names, <body> is dropped inside of a page, and a slash ends no value.
  const others = /^(!?\[(?!.*<script)|\$\{|\{\{|javascript:|__proto__|<javascript:|<body |<img\/src=x\/)/;
  const unnoticed: string[] = [];
  for (const one of payloads) {
    await sink(one);
    const found = [...(await smuggled(seen.page)), ...steered((await seen.page.locator("body").textContent()) ?? "")];
    if (found.length === 0) unnoticed.push(one);
  }
  expect(unnoticed).toEqual(payloads.filter((one) => others.test(one)));
});
