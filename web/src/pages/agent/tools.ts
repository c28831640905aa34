import { span } from "../../lib/words";

/** What a tool does, in the words and shapes of the stream. */
export interface Verb {
  word: string;
  icon: string;
}

const run: Verb = { word: "Run", icon: "u-term" };
const read: Verb = { word: "Read", icon: "u-read" };
const edit: Verb = { word: "Edit", icon: "u-edit" };
const write: Verb = { word: "Write", icon: "u-edit" };
const search: Verb = { word: "Search", icon: "u-find" };
const fetches: Verb = { word: "Fetch", icon: "u-web" };
const plan: Verb = { word: "Plan", icon: "u-plan" };
const ask: Verb = { word: "Ask", icon: "u-ask" };
const delegate: Verb = { word: "Delegate", icon: "u-agent" };
const use: Verb = { word: "Use", icon: "u-gear" };

/** Tools are known by what is in their names, in this order: "apply_patch", "run_shell_command", "MultiEdit". */
const words: [Verb, string[]][] = [
  [plan, ["todo", "taskcreate", "taskupdate", "update_plan", "plan_create", "plan_update", "exitplanmode"]],
  [run, ["bash", "shell", "execute", "exec_", "run_command", "run_terminal", "terminal"]],
  [fetches, ["fetch", "browse", "open_url"]],
  [edit, ["edit", "patch", "replace", "delete", "move", "insert"]],
  [search, ["grep", "glob", "search", "find", "list", "rg"]],
  [write, ["write", "create", "save_file", "new_file"]],
  [read, ["read", "view", "open_file", "cat_file"]],
];

/** What a tool does, by its name. */
export function verbOf(tool: string): Verb {
  const name = tool.toLowerCase().replace(/^.*__/, "");
  if (name.startsWith("ask") || name === "question") return ask;
  if (["task", "agent", "spawn_agent", "dispatch_agent", "subagent", "new_task"].includes(name)) return delegate;
  if (name === "ls") return search;
  return words.find(([, known]) => known.some((word) => name.includes(word)))?.[0] ?? use;
}

const paths = ["file_path", "filePath", "notebook_path", "absolute_path", "path", "filename", "file"];

/** The fields of a tool's input that say what it is about, best first. */
function keysOf(verb: Verb): string[] {
  switch (verb) {
    case run:
      return ["command", "cmd", "commands", "script", "title", "description"];
    case search:
      return ["pattern", "query", "regex", "q", "glob", ...paths];
    case fetches:
      return ["url", "urls", "query", "prompt"];
    case ask:
    case delegate:
      return ["question", "questions", "description", "title", "message", "prompt", "task"];
    case read:
    case edit:
    case write:
      return [...paths, "changes", "files", "paths"];
  }
  return ["title", "name", "query", "url", "description", "subject", ...paths];
}

/** What a call is about: its command, its path. Of a tool without a verb of its own it begins with the tool's name. */
export function subjectOf(tool: string, input: unknown): string {
  const verb = verbOf(tool);
  const fields = fieldsOf(input);
  const text = keysOf(verb).map((key) => firstText(fields[key], 3)).find((found) => found !== "") ?? "";
  if (verb === use) return text === "" ? tool : `${tool} ${text}`;
  return verb === run ? unwrapped(text) : text;
}

/** The path that a call names; "" when it names none. */
export function pathOf(input: unknown): string {
  const fields = fieldsOf(input);
  return paths.map((key) => fields[key]).find((value): value is string => typeof value === "string") ?? "";
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A command that a CLI wraps into a shell: /bin/bash -lc '…'. */
const inShell = /^(?:\S*\/)?(?:ba|z|da)?sh -l?c (['"])([\s\S]*)\1$/;

function unwrapped(command: string): string {
  const found = inShell.exec(command);
  if (!found) return command;
  const inside = found[2] ?? "";
  return found[1] === '"' ? inside.replace(/\\(["$\\])/g, "$1") : inside;
}

/** A text, or the first one in a list or an object: a command's words together. */
function firstText(value: unknown, deep: number): string {
  if (typeof value === "string") return value;
  if (deep === 0 || typeof value !== "object" || value === null) return "";
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one === "string")) return value.join(" ");
    return firstText(value[0], deep - 1);
  }
  const fields = fieldsOf(value);
  return ["path", "question", "command", "title", "content"].map((key) => firstText(fields[key], deep - 1)).find((text) => text !== "") ?? "";
}

/** A path as it is from the folder that an agent works in. */
export function shortPath(path: string, folders: readonly string[]): string {
  for (const folder of folders) {
    if (folder !== "" && path.startsWith(`${folder}/`)) return path.slice(folder.length + 1);
  }
  return path;
}

/** "2.1 s", "48 s", "3 m": how long a call took; "" where that is not known or not worth a word. */
export function tookWords(ms: number): string {
  if (!(ms >= 100)) return "";
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : span(ms);
}
