import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, leave, shown, signedIn, visit, type Visitor } from "./browser";
import { Lab } from "./lab";
import { everything, fileNames, names, payloads } from "./payloads";
import type { Step } from "./script";
import { suggests } from "./shop";

let lab: Lab;
let browser: Browser;
let pages: string[];

const SLUG = "hostile";

beforeAll(async () => {
  [lab, browser] = await Promise.all([Lab.open(), launch()]);
  pages = await writeEverywhere();
});

afterAll(async () => {
  await browser?.close();
  await lab?.close();
});

/** Lets agents write every payload into every field that they can write. */
async function writeEverywhere(): Promise<string[]> {
  await lab.cw("project", "add", ".");
  await lab.cw("initiative", "create", "Hostile", "--project", "shop", "--goal", "See what they write.");
  await lab.cw("initiative", "edit", SLUG, "--hold");
  const [agent] = [await lab.spawn("Write everywhere", [writes()], "--project", ".", "--name", "hostile-one")];
  const asker = await lab.spawn("Ask by a signal", [[{ signal: { status: "questions", questions: questions() } }]], "--project", ".", "--name", "hostile-two");
  const crashing = await lab.spawn("Crash with words", [[{ error: everything }, { signal: { status: "error", error: everything } }, { exit: 1 }]], "--project", ".", "--name", "hostile-three");
  await lab.spawn("Answer a question", [[
    { quiet: `cw listen > heard; id=$(sed -n 's/.*"conversationId": *"\\([^"]*\\)".*/\\1/p' heard); cat <<'END' > answer\n${everything}\nEND\ncw answer - --conversation-id $id < answer` }, { hang: true },
  ]], "--project", ".", "--name", "hostile-four");
  await lab.spawn("Ask an agent", [[{ quiet: `cat <<'END' > ask\n${everything}\nEND\ncw ask - --agent-id hostile-four < ask` }, { hang: true }]], "--project", ".", "--name", "hostile-five");
  lab.script(["in refine mode", "Hostile"], [
    { quiet: suggests("pages", [`title: ${yaml(names[0])}`, "parent: $(sed -n 's/^id: *//p' .cw/input/pages/*.md | head -n 1)"], shellText(everything)) },
    ...names.slice(1, 30).map((name): Step => ({ quiet: suggests("pages", [`title: ${yaml(name)}`, "parent: $(sed -n 's/^id: *//p' .cw/input/pages/*.md | head -n 1)"], "Text.") })),
    { quiet: `cat <<'END' > .cw/output/SUMMARY.md\n${everything}\nEND` }, { signal: { status: "done", result: everything } },
  ]);
  lab.script(["in plan mode", "Hostile"], [
    ...names.map((name): Step => ({ quiet: suggests("phases", [`title: ${yaml(name)}`, "depends_on: []"], shellText(everything)) })),
    { signal: { status: "done", result: everything } },
  ]);
  for (const mode of ["refine", "plan"]) {
    const { name } = await lab.json<{ name: string }>("agent", "spawn", "--mode", mode, "--initiative", SLUG, "--provider", "claude");
    expect((await lab.rest(name)).status).toBe("idle");
    // What the first suggests is taken, what the second does is left to decide on.
    if (mode === "refine") await lab.cw("proposal", "accept", "--agent", name);
  }
  const phase = await lab.json<{ id: string }>("phase", "create", SLUG, names[1] ?? "", "--body", "README.md");
  const task = await lab.json<{ id: string }>("task", "create", "--phase", phase.id, names[2] ?? "", "--check", names[3] ?? "", "--path", "src/**");
  const ended = await Promise.all([agent.name, asker.name, crashing.name].map((name) => lab.until(name, (one) => one.status !== "pending" && one.status !== "starting" && one.status !== "running")));
  expect(ended.map((one) => one.status)).toEqual(["idle", "waiting_for_input", "crashed"]);
  const [first] = await lab.json<{ id: string }[]>("page", "list", SLUG);
  const { items: waiting } = await lab.json<{ items: { key: string }[] }>("inbox");
  const conversations = await lab.json<{ id: string }[]>("conversation", "list");
  return [
    "/", ...waiting.map((one) => `/?item=${encodeURIComponent(one.key)}`), "/initiatives", `/initiatives/${SLUG}`, `/initiatives/${SLUG}?page=${first?.id ?? ""}`, `/initiatives/${SLUG}?task=${task.id}`,
    ...["tasks", "page", "proposals", "timeline"].map((view) => `/initiatives/${SLUG}?view=${view}`),
    ...["hostile-one", "hostile-two", "hostile-three", "hostile-four"].flatMap((name) => [`/agents/${name}`, `/agents/${name}?view=raw`, `/agents/${name}?view=diff`, `/agents/${name}?view=facts`]),
    "/review", "/review/agent/hostile-one", `/review/task/${task.id}`, `/review/initiative/${SLUG}`,
    "/accounts", "/conversations", ...conversations.map((one) => `/conversations?id=${one.id}`), "/activity", "/settings",
    ...["projects", "providers", "limits", "access", "notices", "browser"].map((tab) => `/settings?tab=${tab}`), "/more",
  ];
}

/** One run that writes into the stream, its plan, files, commits and its last word. */
function writes(): Step[] {
  return [
    ...payloads.flatMap((text): Step[] => [{ say: text }, { think: text }, { tool: { name: text.slice(0, 60), input: { command: text, file_path: text, [text]: text }, output: text, failed: text.length % 2 === 0 } }]),
    { tool: { name: "Bash", input: { command: everything }, output: everything } },
    { tool: { name: "Edit", input: { file_path: names[0], old_string: everything, new_string: `${everything}\n` }, output: everything } },
    { tool: { name: "WebFetch", input: { url: "javascript:window.__pwned=1", prompt: everything }, output: everything, failed: true } },
    { plan: names.slice(0, 30).map((content) => ({ content, status: "pending" as const })) },
    ...fileNames.map((name): Step => ({ write: { path: name, text: `${everything}\n`, hide: true } })),
    { write: { path: "src/page.html", text: everything } },
    { quiet: `git add -A && git commit -q -F - <<'END'\n${names[0] ?? ""}\n\n${everything}\nEND` },
    { limit: { status: "allowed_warning", kind: names[8] ?? "", used: 0.9, minutes: 10 } },
    { raw: `${everything}\n` },
    { error: everything },
    { signal: { status: "done", result: everything } },
  ];
}

function questions() {
  return names.slice(0, 20).map((text, i) => ({
    id: `q${i}`, question: `${text}\n${everything.slice(0, 4000)}`, header: text.slice(0, 12),
    options: [{ label: text, description: everything.slice(0, 1000) }, { label: `b ${text}`, description: text }],
  }));
}

/** A text as YAML writes it for sure. */
const yaml = (text: string | undefined) => shellText(JSON.stringify(text ?? ""));
/** A text in a here-document that expands: nothing in it is to be expanded. */
const shellText = (text: string) => text.replace(/[\\$`]/g, "\\$&");

/** Opens all that is folded: what is hidden is looked at, too. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll("main details:not([open])")) (fold as HTMLDetailsElement).open = true;
    for (const button of [...document.querySelectorAll('main [aria-expanded="false"]')].slice(0, 60)) (button as HTMLElement).click();
  });
  await page.waitForTimeout(250); // what was unfolded may load pictures
}

/** Whatever in the page is no text: links that lead to scripts, foreign pictures, handlers, frames. */
function smuggled(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const out: string[] = [];
    for (const one of document.querySelectorAll("*")) {
      for (const { name, value } of one.attributes) {
        if (name.startsWith("on")) out.push(`${one.tagName} has ${name}=${value}`);
        if (["href", "src", "action", "formaction", "xlink:href", "data", "srcdoc"].includes(name) && /^[\s\u0000-\u001f]*(javascript|vbscript|data:text)/i.test(value)) out.push(`${one.tagName} has ${name}=${value}`);
      }
      if (/^(iframe|object|embed|base|form)$/i.test(one.tagName) && one.tagName !== "FORM") out.push(one.outerHTML.slice(0, 200));
      if (one.tagName === "SCRIPT" && !(one as HTMLScriptElement).src.startsWith(location.origin)) out.push(one.outerHTML.slice(0, 200));
      if (one.tagName === "IMG" && !(one as HTMLImageElement).src.startsWith(location.origin) && !(one as HTMLImageElement).src.startsWith("data:image/")) out.push(one.outerHTML.slice(0, 200));
      if (one.tagName === "A" && (one as HTMLAnchorElement).target === "_blank" && !(one as HTMLAnchorElement).relList.contains("noopener") && !(one as HTMLAnchorElement).relList.contains("noreferrer")) out.push(one.outerHTML.slice(0, 200));
    }
    return out;
  });
}

test("no text of an agent runs, on any page", async () => {
  expect(payloads.length).toBeGreaterThanOrEqual(40);
  const seen: Visitor = await signedIn(browser, lab);
  const found: string[] = [];
  let texts = 0;
  for (const path of pages) {
    await visit(seen, path);
    await unfold(seen.page);
    await shown(seen.page);
    for (const one of await smuggled(seen.page)) found.push(`${path}: ${one}`);
    texts += (await seen.page.locator("body").innerText()).split("__pwned").length - 1;
    for (const problem of seen.problems.splice(0)) found.push(`${path}: ${problem}`);
  }
  expect(found).toEqual([]);
  // The proof is worth nothing when the pages show none of it.
  console.log(`load of hostile texts: ${texts} shown on ${pages.length} pages`);
  expect(texts).toBeGreaterThan(payloads.length);
  await leave(seen);
});
