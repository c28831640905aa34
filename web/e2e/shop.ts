import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Lab } from "./lab";
import { commits, done, type Step } from "./script";
import { files, receiveOnce, store, storeTest } from "./shopfiles";

/** What the demo's pages are about. */
export interface Shop {
  /** The agent with the richest conversation; it runs. */
  rich: string;
  /** An agent that is idle, with work on its branch. */
  idle: string;
  /** An agent that asks. */
  asks: string;
  /** The initiative with tasks in all states, and one with proposals. */
  webhooks: string;
  search: string;
  /** A task whose work is to be looked at. */
  verify: string;
}

interface Made {
  id: string;
}

/** Fills a home with a day in the life of a small shop. */
export async function openShop(lab: Lab): Promise<Shop> {
  makeRepo(lab);
  await lab.cw("project", "add", ".");
  await lab.cw("project", "trust", ".", "--yes");
  for (const [name, key] of [["team-1", "shop-key-one-000"], ["team-2", "shop-key-two-000"]] as const) {
    await lab.runWith(key, "account", "add", "--provider", "claude", "--name", name, "--api-key");
  }
  const webhooks = await makeWebhooks(lab);
  const search = await makeSearch(lab);
  const loose = await looseAgents(lab);
  await lab.cw("budget", "set", "initiative", webhooks.slug, "40");
  await lab.until(loose.asks, (agent) => (agent.pendingQuestions ?? []).length > 0);
  await lab.rest(loose.idle);
  return { ...loose, webhooks: webhooks.slug, search, verify: webhooks.verify };
}

function makeRepo(lab: Lab): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(lab.told.repo, name)), { recursive: true });
    writeFileSync(join(lab.told.repo, name), text);
  }
  for (const args of [["add", "-A"], ["commit", "-q", "-m", "Sell things"]]) execFileSync("git", args, { cwd: lab.told.repo, env: lab.env });
}

/** Reading, thinking and running, as any agent begins. */
function looksAround(what: string): Step[] {
  return [
    { think: `The task is about ${what}. First I want to see how a delivery comes in today, and who calls receive().` },
    { say: `I look at how ${what} works today.` },
    { tool: { name: "Read", input: { file_path: "src/webhooks/receive.ts" }, output: files["src/webhooks/receive.ts"] ?? "" } },
    { tool: { name: "Grep", input: { pattern: "receive\\(", path: "src" }, output: "src/webhooks/receive.ts:11:export async function receive(delivery: Delivery)" } },
  ];
}

async function makeWebhooks(lab: Lab): Promise<{ slug: string; verify: string }> {
  const slug = "idempotent-webhooks";
  await lab.json<Made>("initiative", "create", "Idempotent webhooks", "--start", "--project", "shop", "--goal",
    "A payment provider may deliver the same event twice. **Each event changes an order once**, whatever arrives how often.\n\n- no customer is charged twice\n- a replay of a whole day changes nothing\n- the three providers behave alike");
  await lab.cw("initiative", "edit", slug, "--provider", "claude");
  const page = async (title: string, text: string) => lab.runWith(text, "page", "create", slug, title, "--body", "-");
  await page("What makes a delivery unique", "The pair of endpoint and event. `X-Delivery` is sent by two of three providers only.\n\n| provider | header | replays |\n|---|---|---|\n| Stripe | `Stripe-Signature` | yes |\n| Adyen | none | yes |\n| PayPal | `Paypal-Transmission-Id` | no |\n");
  await page("How long deliveries are kept", "30 days, as the longest replay window of a provider is 14.\n\n> Measured on the deliveries of October: 2.1 million keys, 160 MB.\n");
  const phase = async (name: string, ...flags: string[]) => (await lab.json<Made>("phase", "create", slug, name, ...flags)).id;
  const receive = await phase("Receive once");
  const answer = await phase("Answer late", "--depends-on", receive);
  const show = await phase("Show it", "--depends-on", answer);
  const task = async (of: string, name: string, ...flags: string[]) => (await lab.json<Made>("task", "create", "--phase", of, name, ...flags)).id;

  lab.script(["Keep the key of each delivery"], [
    ...looksAround("the receiver"),
    ...commits("Keep the key of each delivery for 30 days", { "src/webhooks/store.ts": store, "src/webhooks/store.test.ts": storeTest }),
    { cost: { usd: 1.84, input: 48_000, output: 9_200, context: 61_000 } }, ...done("Keys of deliveries are kept for 30 days."),
  ]);
  lab.script(["Sign what is sent to providers"], [
    ...looksAround("signing"), ...commits("Sign what is sent", { "src/webhooks/sign.ts": 'export const sign = (body: string, key: string) => `${key}:${body.length}`;\n' }),
    { cost: { usd: 0.92, input: 21_000, output: 3_100, context: 38_000 } }, ...done("What is sent is signed, and the key is rotated with the account."),
  ]);
  lab.script(["Refuse deliveries that are too old"], [
    ...looksAround("the age of deliveries"),
    { plan: [{ content: "Read the clock of the provider", status: "completed" }, { content: "Refuse what is older than 5 minutes", status: "in_progress" }, { content: "Test with a clock that stands still", status: "pending" }] },
    { cost: { usd: 0.47, input: 9_000, output: 1_900, context: 26_000 } }, { limit: { status: "allowed_warning", kind: "five_hour", used: 0.82, minutes: 96 } },
    { tool: { name: "Bash", input: { command: "npm test -- webhooks" }, output: "", takes: 3_600_000 } },
  ]);
  lab.script(["Tell the provider at once"], [{ hang: true }]);
  const keep = await task(receive, "Keep the key of each delivery", "--path", "src/webhooks/store*", "--check", "a repeated key is refused", "--priority", "high");
  const verify = await task(receive, "Sign what is sent to providers", "--type", "checkpoint:verify", "--path", "src/webhooks/sign.ts", "--size", "small");
  await task(receive, "Refuse deliveries that are too old", "--path", "src/webhooks/age.ts");
  await lab.runWith(JSON.stringify([
    { id: "window", question: "How long is a delivery taken again?", options: [{ label: "24 hours", description: "as two of three providers" }, { label: "14 days", description: "the longest replay" }] },
  ]), "task", "create", "--phase", receive, "Choose the replay window", "--type", "checkpoint:decision", "--questions", "-");
  const late = await task(answer, "Tell the provider at once", "--depends-on", keep, "--path", "src/webhooks/receive.ts");
  await task(answer, "Work through what waits", "--depends-on", late, "--size", "large");
  await task(show, "Show deliveries in the back office", "--size", "medium");
  return { slug, verify };
}

/** An initiative whose plan is suggested, and waits for somebody to decide. */
async function makeSearch(lab: Lab): Promise<string> {
  const slug = "vector-search";
  await lab.json<Made>("initiative", "create", "Vector search", "--start", "--project", "shop", "--goal", "Customers find things by what they mean, not by the words we chose.");
  lab.script(["in plan mode", "Vector search"], [
    { say: "I cut the goal into steps that can be shown one by one." },
    { quiet: suggests("phases", ["title: Embed the catalogue", "depends_on: []"], "Every product has a vector.\n\n**Done when** `npm run embed` fills an empty table in 10 minutes.") },
    { quiet: suggests("phases", ["title: Search by meaning", "depends_on: []"], "The endpoint answers with the nearest 20, in 50 ms.\n\n**Done when** the golden questions find their products.") },
    { quiet: suggests("phases", ["title: Measure and switch over", "depends_on: []"], "Both searches answer for a week, and one is looked at.") },
    { quiet: "printf 'Three steps: embed, search, measure.\\n' > .cw/output/SUMMARY.md" },
    ...done("Three phases are suggested."),
  ]);
  const planner = await lab.json<{ name: string }>("agent", "spawn", "--mode", "plan", "--initiative", slug, "--provider", "claude");
  await lab.rest(planner.name);
  return slug;
}

/** A shell line that writes one file of an architect's output, with a fresh id. */
export function suggests(folder: string, head: string[], body: string): string {
  return `id=$(cw id); mkdir -p .cw/output/${folder}; cat > .cw/output/${folder}/$id.md <<END-OF-FILE\n---\nid: $id\n${head.join("\n")}\n---\n$(cat <<'END-OF-BODY'\n${body}\nEND-OF-BODY\n)\nEND-OF-FILE`;
}

async function looseAgents(lab: Lab): Promise<Pick<Shop, "rich" | "idle" | "asks">> {
  const rich = await lab.spawn("Take a repeated delivery once\n\nReceive may be called twice with the same event. Only the first call may change an order.", [[
    ...looksAround("a repeated delivery"),
    { plan: [{ content: "Read how deliveries come in", status: "completed" }, { content: "Keep the keys", status: "in_progress" }, { content: "Answer a repeated one", status: "pending" }, { content: "Test with both orders of arrival", status: "pending" }] },
    ...commits("Take a repeated delivery once\n\nThe key is endpoint and event, as two providers send nothing better.", { "src/webhooks/receive.ts": receiveOnce, "src/webhooks/store.ts": store }),
    { tool: { name: "Bash", input: { command: "npm test" }, output: "✗ receive › two at once\n  expected 1 order, got 2\n\n2 of 214 tests fail", failed: true } },
    { say: "Two deliveries at the same instant both pass. The claim has to be one statement in the database:\n\n```ts\nawait db.insert(deliveries).values({ key }).onConflictDoNothing();\n```\n\n1. insert first\n2. work only when the row is new" },
    { cost: { usd: 2.31, input: 61_000, output: 12_400, context: 84_000 } },
    { quiet: "cw listen > /tmp/cw-web-heard.$$ && id=$(sed -n 's/.*\"conversationId\": *\"\\([^\"]*\\)\".*/\\1/p' /tmp/cw-web-heard.$$); rm -f /tmp/cw-web-heard.$$; cw answer 'Yes: endpoint and event, never the body.' --conversation-id $id" },
    { plan: [{ content: "Read how deliveries come in", status: "completed" }, { content: "Keep the keys", status: "completed" }, { content: "Answer a repeated one", status: "in_progress" }, { content: "Test with both orders of arrival", status: "pending" }] },
    { tool: { name: "Bash", input: { command: "npm test -- --watch=false src/webhooks" }, output: "", takes: 3_600_000 } },
  ]], "--project", ".", "--name", "swift-lynx");
  const asker = await lab.spawn("Round prices per order\n\nThe summary and the invoice differ by a cent.", [[
    ...looksAround("rounding"),
    { cost: { usd: 0.38, input: 7_000, output: 1_200, context: 18_000 } },
    { ask: { questions: [{ question: "Round per line or per order?", header: "Rounding", options: [{ label: "Per line", description: "as the invoice does; may differ from the total by a cent" }, { label: "Per order", description: "one rounding; lines may not add up" }] }] } },
    ...commits("Round once, at the end of an order", { "src/money.ts": "export const cents = (price: number) => Math.round(price * 100);\n" }),
    ...done("Prices are rounded as you said."),
  ]], "--project", ".", "--name", "sly-stoat");
  const idle = await lab.spawn("Explain the cart in the README", [[
    { say: "The README gets a section on the cart." },
    ...commits("Explain the cart", { "README.md": `${files["README.md"] ?? ""}\n## The cart\n\nLines have a price in euros and a count; \`total\` gives cents.\n` }),
    { cost: { usd: 0.12, input: 3_000, output: 700, context: 9_000 } }, ...done("The README explains the cart."),
  ]], "--project", ".", "--name", "calm-heron");
  await lab.spawn("Ask the others about keys", [[
    { say: "Another agent works on the same key. I ask it." },
    { sh: "cw ask 'Is the key of a delivery endpoint and event?' --agent-id swift-lynx" },
    { say: "Then both of us use the same key." }, { signal: { status: "done", result: "We agree on the key.", noChanges: "only asked" } },
  ]], "--project", ".", "--name", "keen-marten");
  await lab.spawn("Move the catalogue to the new schema", [[
    ...looksAround("the catalogue"), { error: "panic: connection refused (127.0.0.1:5432)" }, { exit: 2 },
  ]], "--project", ".", "--name", "bold-crane");
  await lab.spawn("Translate the receipts", [[
    { say: "The receipts are in English only. I begin with German." }, { limit: { status: "rejected", kind: "seven_day", used: 1, minutes: 190 } }, { exit: 1 },
  ]], "--project", ".", "--provider", "codex", "--name", "deft-wren");
  return { rich: rich.name, asks: asker.name, idle: idle.name };
}

/** The pages of the demo: what a picture of each is called, and its address. */
export function tour(shop: Shop): { name: string; path: string }[] {
  return [
    { name: "now", path: "/" },
    { name: "agent", path: `/agents/${shop.rich}` },
    { name: "initiatives", path: "/initiatives" },
    { name: "initiative", path: `/initiatives/${shop.webhooks}` },
    { name: "proposals", path: `/initiatives/${shop.search}` },
    { name: "review-list", path: "/review" },
    { name: "review", path: `/review/agent/${shop.rich}` },
    { name: "review-task", path: `/review/task/${shop.verify}` },
    { name: "accounts", path: "/accounts" },
    { name: "conversations", path: "/conversations" },
    { name: "activity", path: "/activity" },
    { name: "settings", path: "/settings" },
    { name: "more", path: "/more" },
  ];
}
