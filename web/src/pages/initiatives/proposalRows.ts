import type { ProposalView } from "../../api/initiativeQueries";
import { segments, type Segment } from "../../diff/segments";
import { wordDiff, type Range } from "../../diff/wordDiff";
import { inert, oneLine } from "../../lib/words";

/** One line of a difference: it came, went, or stands around what did; "skip" is what is not shown. */
export interface DiffRow {
  kind: "add" | "del" | "same" | "skip";
  pieces: Segment[];
}

/** What a file says before its text, as far as it is made of lines and lists of them. */
type Fields = Map<string, string[]>;

const labels: Record<string, string> = {
  title: "called", phase: "in phase", page: "on page", type: "type", size: "size", priority: "priority", parent: "below",
  depends_on: "depends on", paths: "may touch", checks: "done when", questions: "asks", position: "place",
};

/** What a person need not be told of something new: the title stands above, the rest is usual. */
const usual = new Map([["id", ""], ["title", ""], ["type", "auto"], ["size", "medium"], ["priority", "medium"], ["status", ""], ["revision", ""]]);

/** The lines that show what a proposal changes. names gives a name for an id. */
export function rowsOf(view: Pick<ProposalView, "current" | "after" | "action" | "diff">, names: ReadonlyMap<string, string>): DiffRow[] {
  const before = split(view.current ?? "");
  const after = split(view.after ?? "");
  if (view.action === "delete") return textRows(before.text, "del");
  return [...fieldRows(before.fields, after.fields, names), ...bodyRows(view.diff, before.head, after.head)];
}

/** The lines of a unified difference, with words. */
export function unifiedRows(diff: string): DiffRow[] {
  return bodyRows(diff, 0, 0);
}

function textRows(text: string, kind: "add" | "del"): DiffRow[] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => plain(kind, line));
}

function plain(kind: DiffRow["kind"], text: string): DiffRow {
  return { kind, pieces: piecesOf(inert(text), []) };
}

/** Parts a file into its head and its text. head is the number of lines before the text. */
export function split(file: string): { fields: Fields; text: string; head: number } {
  const lines = file.split("\n");
  const end = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  if (end < 0) return { fields: new Map(), text: file, head: 0 };
  const fields: Fields = new Map();
  let key = "";
  for (const line of lines.slice(1, end)) {
    const named = /^([A-Za-z_]+):\s*(.*)$/.exec(line);
    if (named) {
      const [, name = "", value = ""] = named;
      key = name;
      fields.set(key, value === "" || value === "[]" ? [] : [unquoted(value)]);
    } else if (key !== "") {
      fields.get(key)?.push(unquoted(line.trim().replace(/^- /, "")));
    }
  }
  return { fields, text: lines.slice(end + 1).join("\n"), head: end + 1 };
}

function unquoted(value: string): string {
  if (value.startsWith('"')) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value;
    }
  }
  return value.startsWith("'") && value.endsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value;
}

function fieldRows(before: Fields, after: Fields, names: ReadonlyMap<string, string>): DiffRow[] {
  const out: DiffRow[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const was = sentence(key, before.get(key), names);
    const is = sentence(key, after.get(key), names);
    if (was === is || key === "id") continue;
    if (before.size === 0 && usual.has(key) && (usual.get(key) === "" || usual.get(key) === after.get(key)?.join())) continue;
    out.push(...changedPair(was, is));
  }
  return out;
}

function sentence(key: string, values: string[] | undefined, names: ReadonlyMap<string, string>): string {
  if (!values || values.length === 0) return "";
  return `${labels[key] ?? key.replaceAll("_", " ")} ${values.map((value) => names.get(value) ?? value).join(", ")}`;
}

function changedPair(before: string, after: string): DiffRow[] {
  if (before === "") return [plain("add", after)];
  if (after === "") return [plain("del", before)];
  const [was, is] = [inert(before), inert(after)];
  const words = wordDiff(was, is);
  return [{ kind: "del", pieces: piecesOf(was, words.before) }, { kind: "add", pieces: piecesOf(is, words.after) }];
}

const piecesOf = (text: string, marks: Range[]): Segment[] => segments([{ text, ink: null }], marks);

/** The changed lines of the text, from a unified difference; lines of the heads are left out. */
function bodyRows(diff: string, headBefore: number, headAfter: number): DiffRow[] {
  const out: DiffRow[] = [];
  let gone: string[] = [];
  let come: string[] = [];
  let shown = false;
  const flush = () => {
    gone.forEach((line, i) => (gone.length === come.length ? out.push(...changedPair(line, come[i] ?? "")) : out.push(plain("del", line))));
    if (gone.length !== come.length) out.push(...come.map((line) => plain("add", line)));
    shown ||= gone.length + come.length > 0;
    gone = [];
    come = [];
  };
  let a = 0;
  let b = 0;
  for (const line of diff.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      flush();
      if (shown) out.push(plain("skip", ""));
      a = Number(hunk[1]);
      b = Number(hunk[2]);
      continue;
    }
    if (a === 0 && b === 0) continue; // the names of both sides
    const text = line.slice(1);
    if (line.startsWith("-")) {
      if (a++ > headBefore) gone.push(text);
    } else if (line.startsWith("+")) {
      if (b++ > headAfter) come.push(text);
    } else if (line.startsWith(" ")) {
      flush();
      a++;
      b++;
    }
  }
  flush();
  return out.filter((row) => row.kind === "skip" || row.pieces.some((piece) => piece.text.trim() !== ""));
}

/** "Page: Goal", "New task: Load test". */
export function titleOf(proposal: Pick<ProposalView, "action" | "target" | "title">): string {
  const noun = proposal.target;
  const what = { create: `New ${noun}`, update: noun.charAt(0).toUpperCase() + noun.slice(1), delete: `${removal[noun] ?? "Remove"} ${noun}` }[proposal.action];
  return `${what}: ${oneLine(proposal.title)}`;
}

const removal: Record<string, string> = { phase: "Archive", task: "Cancel" };
