import { sleep, type Agent, type Lab } from "./lab";
import { filesOf, lineOf, linesOf, marksOf, textOf, type Mark } from "./marks";
import type { Step } from "./script";

/** Payload by payload: the same number of each field stands in one step. */
function together(fields: string[], step: (text: Record<string, string>) => Step): Step[] {
  const all = Object.fromEntries(fields.map((name) => [name, marksOf(name)]));
  return marksOf("").map((_, i) => step(Object.fromEntries(fields.map((name) => [name, all[name]?.[i]?.text ?? ""]))));
}

const tool = (name: string, input: Record<string, unknown>, output = "", failed = false): Step => ({ tool: { name, input, output, failed } });
/** A line of the CLI's output, as Claude Code writes it. */
const line = (what: Record<string, unknown>): Step => ({ raw: `${JSON.stringify({ session_id: "s", ...what })}\n` });
const here = (command: string, text: string): Step => ({ quiet: `${command} <<'END-OF-TEXT'\n${text}\nEND-OF-TEXT` });

/** What the model says, and calls of a tool that nobody knows. */
const words = (): Step[] => [
  ...together(["say"], (t) => ({ say: t.say ?? "" })),
  ...together(["think"], (t) => ({ think: t.think ?? "" })),
  ...together(["tool", "key", "value", "out"], (t) => tool(t.tool ?? "", { [t.key ?? ""]: t.value }, t.out)),
];

/** Calls of the tools that the dashboard shows in a way of their own. */
const tools = (): Step[] => [
  ...together(["command", "stdout"], (t) => tool("Bash", { command: t.command, description: t.command }, t.stdout, true)),
  ...together(["editpath", "editold", "editnew"], (t) => tool("Edit", { file_path: t.editpath, old_string: t.editold, new_string: t.editnew }, "ok")),
  ...together(["writepath", "writetext"], (t) => tool("Write", { file_path: t.writepath, content: t.writetext }, "no", true)),
  ...together(["readpath"], (t) => tool("Read", { file_path: t.readpath }, "ok")),
  ...together(["pattern"], (t) => tool("Grep", { pattern: t.pattern, path: t.pattern }, "ok")),
  ...together(["url"], (t) => tool("WebFetch", { url: t.url, prompt: t.url }, "ok")),
  ...together(["delegated"], (t) => tool("Task", { description: t.delegated, prompt: t.delegated, subagent_type: t.delegated }, "ok")),
];

/** What goes wrong, or the CLI says of itself. */
const troubles = (): Step[] => [
  line({ type: "system", subtype: "init", session_id: lineOf("session"), model: lineOf("model"), cwd: lineOf("cwd"), tools: [] }),
  // Tries that come one after the other are one row with the last reason.
  ...marksOf("warning").flatMap((one, i) => [
    line({ type: "system", subtype: "notification", key: "k", text: one.text }),
    line({ type: "system", subtype: "api_retry", attempt: 1, retry_delay_ms: 10, error: marksOf("retry")[i]?.text }),
  ]),
  ...together(["denied"], (t) => line({ type: "system", subtype: "permission_denied", tool_use_id: t.denied, tool_name: t.denied, message: t.denied })),
  ...together(["error"], (t) => line({ type: "assistant", error: "unknown", message: { id: t.error, content: [{ type: "text", text: t.error }] } })),
  ...together(["limit"], (t) => ({ limit: { status: "allowed_warning", kind: t.limit ?? "", used: 0.9, minutes: 10 } })),
  ...together(["unknown"], (t) => line({ type: t.unknown, subtype: t.unknown })),
  { plan: marksOf("todo").map((one) => ({ content: one.text, status: "pending" })) },
  ...marksOf("rawline").map((one): Step => ({ raw: `${one.text}\n` })),
  line({ type: "result", subtype: "error_during_execution", is_error: true, result: textOf("ending"), errors: [textOf("ending")] }),
];

/** Files, and what is said of them. */
const files = (): Step[] => [
  ...filesOf("file").map((one): Step => ({ write: { path: one.text, text: `${one.text}\n`, hide: true } })),
  { write: { path: "README.md", text: `${textOf("content")}\n` } },
  { write: { path: "cw.yaml", text: `checks:\n${linesOf("check").map((one) => `  ${JSON.stringify(one.text)}: {run: ${JSON.stringify(one.text.replace("Qcheck", "Qrun"))}}`).join("\n")}\n`, hide: true } },
  { quiet: "printf '\\000\\001\\033[31mred\\377' > picture.bin" },
  here("git add -A && git -c user.name='<img src=x onerror=window.__pwned=1>Qauthor00' commit -q -F -", `${linesOf("subject")[8]?.text ?? ""}\n\n${textOf("message")}`),
  { quiet: "git mv picture.bin 'moved\";Qfrom00.bin' && git commit -q -m moved" },
  ...filesOf("loose").slice(0, 5).map((one): Step => ({ write: { path: one.text, text: "loose\n", hide: true } })),
];

const asked = () => marksOf("question").map((_, i) => {
  const of = (field: string): string => marksOf(field)[i]?.text ?? "";
  return { id: of("qid"), question: of("question"), header: (marksOf("header")[i]?.text ?? "").slice(0, 12), options: [{ label: linesOf("label")[i % linesOf("label").length]?.text ?? "", description: of("option") }, { label: "b", description: "" }] };
});

/** Questions of calls: each has room for a few labels only, so several agents ask them. */
export const called = (agent: number) => [0, 1, 2, 3].filter((n) => agent < 3 || n < 3).map((n) => {
  const at = (agent * 4 + n) * 4;
  const labels = linesOf("asklabel").slice(at, at + 4);
  return {
    question: marksOf("asktext").slice(at, at === 56 ? undefined : at + 4).map((one) => one.text).join("\n"), header: "<b onclick=1",
    options: labels.map((one, i) => ({ label: one.text, description: marksOf("askmeans")[at + i]?.text ?? "" })),
  };
});

/** Titles of agents are cut at 80 characters: those that are not. */
export const titles = (): Mark[] => linesOf("title").filter((one) => one.text.length <= 80);

/** Marks that somebody is to show one after the other, some by each agent. */
export const seconds = (): Mark[][] => {
  const all = linesOf("second"); // what is done is told in one line
  return Array.from({ length: 8 }, (_, i) => all.filter((_, at) => at % 8 === i));
};

/** Says a text, or begins a command that has no end yet: that is done until something else is told. */
const doing = ({ text, word }: Mark): Step => (Number(word.slice(-2)) % 2 === 0 ? { say: text } : line({ type: "assistant", message: { id: word, content: [{ type: "tool_use", id: word, name: "Bash", input: { command: text } }] } }));

/** Starts agents that write all there is to write in their own runs, and waits until it is written. */
export async function runsWrite(lab: Lab): Promise<void> {
  const start = (name: string, steps: Step[]) => lab.spawn(`Work of ${name}`, [steps], "--project", ".", "--name", name);
  const done: Step = { signal: { status: "done", result: "Committed." } };
  const end = (result: string): Step => ({ signal: { status: "done", result, noChanges: textOf("nochange") } });
  await lab.cw("project", "set", "shop", "agentSpawn", "1");
  lab.script(["First", "Qtold00"], [{ say: "I do what I was told." }, { signal: { status: "done", result: textOf("response") } }]);
  lab.script("Qtitle", [{ signal: { status: "done", result: "Read.", noChanges: "only read" } }]);
  await Promise.all([
    start("h-words", [...words(), { signal: { status: "done", result: textOf("result") } }]),
    start("h-tools", [...tools(), end("Used.")]),
    start("h-trouble", [...troubles(), { signal: { status: "error", error: textOf("failure") } }, { exit: 1 }]),
    lab.spawn("Work of h-files", [[...files(), done], [done]], "--project", ".", "--name", "h-files"),
    start("h-asks", [{ signal: { status: "questions", questions: asked() } }]),
    ...[0, 1, 2, 3].map((n) => start(`h-calls-${n}`, [{ ask: { questions: called(n) } }, { hang: true }])),
    start("h-plans", [{ steps: { title: lineOf("plan").slice(0, 480), steps: marksOf("step").map((one, i) => ({ title: one.text, description: marksOf("about")[i]?.text ?? "" })) } }, { hang: true }]),
    start("h-answers", [{ quiet: "cw listen > heard; sed -n 's/.*\"conversationId\": *\"\\([^\"]*\\)\".*/\\1/p' heard > id" }, here("cw answer - --conversation-id $(cat id)", textOf("answer")), { hang: true }]),
    start("h-tells", [{ tell: { agentId: "execute", content: `First\n\n${textOf("told")}`, session: "create", mode: "async", requestKey: "told" } }, { hang: true }]),
    // An agent may make 20 others.
    ...[0, 1, 2, 3].map((n) => start(`h-makes-${n}`, [...titles().slice(n * 15, n * 15 + 15).map((one): Step => ({ tell: { agentId: "execute", content: one.text, session: "create", mode: "async", requestKey: one.word } })), { hang: true }])),
    // Of what a run without a signal says on standard error the end is kept.
    ...[0, 1, 2].map((n) => start(`h-mute-${n}`, [...marksOf("stderr").slice(n * 21, n * 21 + 21).map((one): Step => ({ error: one.text })), { exit: 3 }])),
    ...seconds().map((marks, i) => start(`h-second-${i}`, marks.flatMap((one): Step[] => [doing(one), { wait: `shown-${one.word}` }]))),
  ]);
  await start("h-talks", [here("cw ask - --agent-id h-answers", textOf("talk")), { hang: true }]);
  await untilMade(lab);
  await Promise.all(["h-words", "h-tools", "h-files"].map((name) => finished(lab, name, "idle")));
  await Promise.all(["h-trouble", "h-mute-0", "h-mute-1", "h-mute-2"].map((name) => finished(lab, name, "crashed")));
  await Promise.all(["h-asks", "h-calls-0", "h-calls-1", "h-calls-2", "h-calls-3"].map((name) => lab.until(name, (agent) => (agent.pendingQuestions ?? []).length > 0)));
}

/** Waits until an agent has written all that it is to write, and ended as it is to end. */
async function finished(lab: Lab, name: string, status: string): Promise<void> {
  const agent = await lab.rest(name);
  if (agent.status !== status) throw new Error(`${name} is ${agent.status}: ${JSON.stringify(agent)}`);
}

/** Waits until the agents that agents made are there, and at rest. */
async function untilMade(lab: Lab): Promise<void> {
  const wanted = new Set(["First", ...titles().map((one) => one.text)]);
  for (const end = Date.now() + 60_000; ; await sleep(200)) {
    const made = (await lab.json<Agent[]>("agent", "list")).filter((one) => one.status === "idle" && wanted.has(one.title));
    if (made.length >= wanted.size) return;
    if (Date.now() > end) throw new Error(`${made.length} of ${wanted.size} agents were made`);
  }
}
