import { randomInt } from "node:crypto";
import type { Lab } from "./lab";
import { linesOf, marksOf, textOf } from "./marks";
import type { Step } from "./script";

/** The initiative whose suggestions are accepted, and the one where they wait for somebody. */
export const ACCEPTED = "hostile";
export const OPEN = "newly";

const newId = (): string => Array.from({ length: 12 }, () => "abcdefghijklmnopqrstuvwxyz234567"[randomInt(32)]).join("");

/** Writes one file of an architect's output. Whatever JSON says is YAML, too. */
function suggests(folder: string, head: Record<string, unknown>, body: string): Step {
  const id = newId();
  const lines = Object.entries({ id, ...head }).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return { write: { path: `.cw/output/${folder}/${id}.md`, text: `---\n${lines.join("\n")}\n---\n${body}\n`, hide: true } };
}

/** One file for each payload: in its title, and in its text. */
function each(folder: string, field: string, head: Record<string, unknown> = {}): Step[] {
  const bodies = marksOf(`${field}text`);
  return linesOf(field).map((one, i) => suggests(folder, { title: one.text, ...head }, bodies[i]?.text ?? ""));
}

/** A task has 50 checks at most. */
const pairs = (texts: string[]): string[] => texts.flatMap((text, i) => (i % 2 === 0 ? [[text, texts[i + 1] ?? ""].join(" ")] : []));

/** A task with all that tasks have beside their names: a text, paths, checks, and what people decide. */
function decision(prefix: string, phase: string): Step {
  const questions = [0, 1, 2, 3].map((n) => ({
    id: `q${n}`, header: "<b onclick=1", question: textOf(`${prefix}decide`),
    options: linesOf(`${prefix}choice`).slice(n * 15, n * 15 + 15).map((one) => ({ label: one.text, description: one.text.replace("choice", "means") })),
  }));
  return suggests("tasks", {
    title: `${prefix}decision`, phase, type: "checkpoint:decision", questions,
    paths: linesOf(`${prefix}path`).map((one) => one.text), checks: pairs(linesOf(`${prefix}check`).map((one) => one.text)),
  }, textOf(`${prefix}taskbody`));
}

/** What the architects' files make, for the addresses of pages. */
export interface Planned {
  page: string;
  task: string;
}

/** Lets architects of all modes suggest everything that they can. */
export async function architectsWrite(lab: Lab): Promise<Planned> {
  await Promise.all([suggestAll(lab, "Hostile", "", true), suggestAll(lab, "Newly", "new", false)]);
  const pages = await lab.json<{ id: string; title: string }[]>("page", "list", ACCEPTED);
  const tasks = await lab.json<{ id: string; name: string }[]>("task", "list", ACCEPTED);
  return { page: pages.find((one) => one.title === "whole")?.id ?? "", task: tasks.find((one) => one.name === "decision")?.id ?? "" };
}

async function suggestAll(lab: Lab, name: string, prefix: string, accept: boolean): Promise<void> {
  const slug = name.toLowerCase();
  await lab.cw("initiative", "create", name, "--start", "--project", "shop", "--goal", "See what they write.");
  await lab.cw("initiative", "edit", slug, "--hold");
  const [page] = await lab.json<{ id: string }[]>("page", "list", slug);
  const phase = await lab.json<{ id: string }>("phase", "create", slug, "Of people");
  const run = async (mode: string, steps: Step[], ...flags: string[]): Promise<void> => {
    // What its signal does not say is said by its SUMMARY.md.
    lab.script([`in ${mode} mode`, name], [...steps, summary(`${prefix}summary`), { signal: mode === "refine" ? { status: "done" } : { status: "done", result: textOf("said") } }]);
    const agent = await lab.json<{ name: string }>("agent", "spawn", "--mode", mode, "--initiative", slug, "--provider", "claude", ...flags);
    const { status } = await lab.rest(agent.name);
    if (status !== "idle") throw new Error(`the ${mode} agent ${agent.name} is ${status}`);
    if (accept) await lab.cw("proposal", "accept", "--agent", agent.name);
  };
  await run("refine", [...each("pages", `${prefix}page`, { parent: page?.id }), suggests("pages", { title: `${prefix}whole`, parent: page?.id }, textOf(`${prefix}pagebody`))]);
  await run("plan", each("phases", `${prefix}phase`, { depends_on: [] }));
  await run("detail", [...each("tasks", `${prefix}task`, { phase: phase.id }), decision(prefix, phase.id)], "--phase", phase.id);
  await run("discuss", each("decisions", `${prefix}decision`));
}

const summary = (field: string): Step => ({ write: { path: ".cw/output/SUMMARY.md", text: textOf(field), hide: true } });
