import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { launch, live, signedIn, type Visitor } from "./browser";
import { Lab, type Agent } from "./lab";
import { done, type Question } from "./script";
import { suggests } from "./shop";

/** What a file about acts has: one lab, and one browser that is signed in. */
export class Stage {
  lab!: Lab;
  seen!: Visitor;
  browser!: Browser;

  get page() {
    return this.seen.page;
  }

  get main(): Locator {
    return this.page.locator("main#main");
  }

  button = (name: string | RegExp, within: Locator = this.page.locator("body")): Locator => within.getByRole("button", { name }).first();

  /** The dialog that is open. */
  get dialog(): Locator {
    return this.page.getByRole("dialog");
  }

  /** Waits until the page has said this in a notice. */
  async said(text: string | RegExp): Promise<void> {
    await this.notice(text).waitFor();
  }

  notice(text: string | RegExp): Locator {
    return this.page.getByRole("status").filter({ hasText: text }).last();
  }
}

/** Makes the stage of a file before its tests; what the browser sees of errors makes the test red that made them. */
export function stage(prepare: (lab: Lab) => Promise<void>): Stage {
  const made = new Stage();
  beforeAll(async () => {
    [made.lab, made.browser] = await Promise.all([Lab.open(), launch()]);
    await prepare(made.lab);
    made.seen = await signedIn(made.browser, made.lab);
    made.page.setDefaultTimeout(60_000);
    await live(made.page);
  });
  afterEach(() => expect(made.seen.problems).toEqual([]));
  afterAll(async () => {
    await made.browser?.close();
    await made.lab?.close();
  });
  return made;
}

/** Waits until what cw tells is as wanted: check asks it, and expects. */
export function until(check: () => Promise<unknown>): Promise<unknown> {
  return vi.waitFor(check, { timeout: 60_000, interval: 150 });
}

/** Adds a provider like claude that is taken for stalled after a silence of so many seconds. */
export async function addHasty(lab: Lab, seconds: number): Promise<void> {
  const presets = join(lab.told.home, "providers");
  const claude = readFileSync(join(presets, "claude.yaml"), "utf8");
  writeFileSync(join(presets, "hasty.yaml"), `${claude.replace("name: claude", "name: hasty")}patience: {silence: ${seconds}s}\n`);
  await lab.stop();
  await lab.start();
}

/** Commits files to the lab's repository, which is a project from now on whose cw.yaml is trusted. */
export async function makeRepo(lab: Lab, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(lab.told.repo, name)), { recursive: true });
    writeFileSync(join(lab.told.repo, name), text);
  }
  for (const args of [["add", "-A"], ["commit", "-q", "-m", "Sell things"]]) execFileSync("git", args, { cwd: lab.told.repo, env: lab.env });
  await lab.cw("project", "add", ".");
  if ("cw.yaml" in files) await lab.cw("project", "trust", ".", "--yes");
}

/** Makes an initiative with tasks of one phase, each of a type, and gives their ids by name. A decision may ask questions. */
export async function tasks(lab: Lab, name: string, ...wanted: [name: string, type: string, questions?: (Question & { id: string })[]][]): Promise<Record<string, string>> {
  const { slug } = await lab.json<{ slug: string }>("initiative", "create", name, "--start", "--project", "shop");
  await lab.cw("initiative", "edit", slug, "--provider", "claude");
  const phase = await lab.json<{ id: string }>("phase", "create", slug, "Open");
  const made: Record<string, string> = {};
  for (const [task, type, questions] of wanted) {
    const ran = await lab.runWith(questions ? JSON.stringify(questions) : "", "task", "create", "--phase", phase.id, task, "--type", type, ...(questions ? ["--questions", "-"] : []), "--json");
    if (ran.code !== 0) throw new Error(ran.stderr);
    made[task] = (JSON.parse(ran.stdout) as { id: string }).id;
  }
  return made;
}

/** Opens an item of the inbox by a text of its line, and gives its detail. */
export async function choose(on: Stage, text: string): Promise<Locator> {
  await on.page.locator("[aria-labelledby=needs-you] li > button").filter({ hasText: text }).click();
  const detail = on.page.locator("#inbox-detail");
  await detail.getByRole("heading", { level: 3 }).waitFor();
  return detail;
}

/** Has an architect suggest phases for a new initiative. */
export async function suggest(lab: Lab, name: string, phases: string[]): Promise<string> {
  const { slug } = await lab.json<{ slug: string }>("initiative", "create", name, "--start", "--project", "shop");
  lab.script(["in plan mode", name], [...phases.map((title) => ({ quiet: suggests("phases", [`title: ${title}`, "depends_on: []"], `${title}, as others do.`) })), ...done("Phases are suggested.")]);
  const planner = await lab.json<Agent>("agent", "spawn", "--mode", "plan", "--initiative", slug, "--provider", "claude");
  await lab.rest(planner.name);
  return slug;
}
