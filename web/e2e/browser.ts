import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser, type BrowserContext, type ConsoleMessage, type Page } from "playwright-core";
import type { Lab } from "./lab";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Where a Chromium is; null where none is installed. */
export function findBrowser(): string | null {
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    for (const dir of (process.env.PATH ?? "").split(delimiter)) {
      if (existsSync(join(dir, name))) return join(dir, name);
    }
  }
  return null;
}

export function launch(...flags: string[]): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error("no chromium is installed: scripts/install-browser.sh");
  return chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
}

export interface Look {
  theme: "light" | "dark";
  width: number;
  height: number;
}

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** What is wrong on its own, whatever a test looks at. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  origin: string;
  /** What went wrong so far. */
  problems: string[];
  /** Requests that were sent: their addresses and Referer. */
  requests: { url: string; referer: string }[];
  /** Problems that a test makes on purpose. */
  allow: (pattern: RegExp) => void;
}

/** A browser of its own, not signed in: another profile, no cookies, no storage. */
export async function visitor(browser: Browser, origin: string, look: Partial<Look> = {}): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? DESKTOP.width, height: look.height ?? DESKTOP.height },
    colorScheme: look.theme ?? "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  await context.addInitScript(watchPage);
  const page = await context.newPage();
  const seen: Visitor = { context, page, origin, problems: [], requests: [], allow: () => undefined };
  const allowed: RegExp[] = [];
  seen.allow = (pattern) => allowed.push(pattern);
  const problem = (text: string) => {
    if (!allowed.some((pattern) => pattern.test(text))) seen.problems.push(text);
  };
  page.on("console", (message: ConsoleMessage) => {
    // What could not be loaded is judged by its answer, below.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) problem(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problem(`page: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    problem(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("page", (other) => problem(`window: ${other.url()}`));
  page.on("request", (request) => {
    const url = request.url();
    void request.allHeaders().then(
      (headers) => seen.requests.push({ url, referer: headers.referer ?? "" }),
      () => seen.requests.push({ url, referer: "" }),
    );
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:")) problem(`foreign request: ${url}`);
  });
  page.on("response", (response) => {
    // 404 and 409 of the API are facts that a page tells; whatever else is refused was asked wrongly.
    const told = response.url().startsWith(`${origin}/v1/`) ? [404, 409] : [];
    if (response.status() >= 400 && !told.includes(response.status())) problem(`answer ${response.status()}: ${response.url()}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    if (why !== "net::ERR_ABORTED") problem(`no answer: ${request.url()} ${why}`);
  });
  return seen;
}

/** Runs in every page before its own scripts: says when the policy was broken, or a text ran. */
function watchPage(): void {
  addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
  });
  Object.defineProperty(window, "__pwned", { set: (what) => console.error(`PWNED ${String(what)}`) });
}

/** A browser that is signed in with a new code. */
export async function signedIn(browser: Browser, lab: Lab, look: Partial<Look> = {}): Promise<Visitor> {
  const address = await lab.address();
  const seen = await visitor(browser, new URL(address).origin, look);
  await seen.page.goto(address);
  await shown(seen.page);
  return seen;
}

/** Goes to a page, and waits until it has its data. */
export async function visit(seen: Visitor, path: string): Promise<void> {
  await seen.page.goto(seen.origin + path);
  await shown(seen.page);
}

/** Waits until the page stands, and nothing on it is being read. */
export async function shown(page: Page): Promise<void> {
  await page.locator("main#main").waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-label="Reading"], [aria-busy="true"]') === null, undefined, { timeout: 30_000 });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
}

/** Waits until the event stream stands. */
export async function live(page: Page): Promise<void> {
  await page.getByRole("contentinfo").getByText("Live", { exact: true }).waitFor({ timeout: 60_000 });
}

/** Ends a visit; what went wrong in it is an error. */
export async function leave(seen: Visitor): Promise<void> {
  await seen.context.close();
  if (seen.problems.length > 0) throw new Error(`the browser saw:\n${[...new Set(seen.problems)].join("\n")}`);
}
