import { titles } from "./hostilewrites";
import { filesOf, linesOf, marksOf, type Mark } from "./marks";

/** One field that an agent can write, and each place where the dashboard shows it. */
export interface Field {
  what: string;
  marks: Mark[];
  at: string[];
  /** Why a field is shown nowhere, or not whole. */
  why?: string;
}

const all = (what: string, field: string, ...at: string[]): Field => ({ what, marks: marksOf(field), at });
const nowhere = (what: string, field: string, why: string): Field => ({ what, marks: marksOf(field), at: [], why });
const one = (what: string, field: string, ...at: string[]): Field => ({ what, marks: linesOf(field), at });

export const fields: Field[] = [
  all("words of the model", "say", "talk h-words", "raw h-words"),
  all("thinking", "think", "talk h-words", "raw h-words"),
  // The line of a tool says its name, unless it says what it does: <link rel=prefetch> fetches. A name of two lines is not told whole.
  { what: "name of a tool", marks: marksOf("tool").filter((_, i) => i !== 36 && i !== 47), at: ["talk h-words"] },
  all("the same, as the CLI wrote it", "tool", "raw h-words"),
  all("key of a tool's input", "key", "talk h-words", "raw h-words"),
  all("value of a tool's input", "value", "talk h-words", "raw h-words"),
  all("output of a tool", "out", "talk h-words", "raw h-words"),
  all("result of the signal", "result", "now"),
  all("a command", "command", "talk h-tools"),
  all("output of a command", "stdout", "talk h-tools"),
  all("path of an edit", "editpath", "talk h-tools"),
  all("text that an edit takes away", "editold", "talk h-tools"),
  all("text that an edit puts in", "editnew", "talk h-tools"),
  all("path that is written", "writepath", "talk h-tools"),
  all("content that is written", "writetext", "talk h-tools"),
  all("path that is read", "readpath", "talk h-tools"),
  all("pattern of a search", "pattern", "talk h-tools"),
  all("address that is fetched", "url", "talk h-tools"),
  all("what is delegated", "delegated", "talk h-tools"),
  one("name of the model", "model", "talk h-trouble", "facts h-trouble"),
  one("working directory of the CLI", "cwd", "raw h-trouble"),
  one("session id of the CLI", "session", "raw h-trouble"),
  all("warning", "warning", "talk h-trouble"),
  all("refused permission", "denied", "talk h-trouble"),
  all("reason of another try", "retry", "talk h-trouble"),
  all("error of the model's API", "error", "talk h-trouble"),
  all("name of a limit", "limit", "talk h-trouble", "accounts"),
  all("line of a type that nobody knows", "unknown", "raw h-trouble"),
  all("step of a plan in the output", "todo", "talk h-trouble"),
  ...[0, 1, 2].map((n): Field => ({ what: `standard error of a run without a signal, ${n + 1} of 3`, marks: marksOf("stderr").slice(n * 21, n * 21 + 21), at: ["now", `facts h-mute-${n}`, `inbox h-mute-${n}`] })),
  all("line that is no JSON", "rawline", "raw h-trouble"),
  all("the CLI's last word, an error", "ending", "talk h-trouble"),
  all("error of the signal", "failure", "now", "facts h-trouble", "inbox crashed"),
  { what: "name of a file", marks: filesOf("file"), at: ["diff h-files", "review h-files"] },
  all("content of a file", "content", "diff h-files", "review h-files", "talk h-files"),
  { what: "name of a file that is not committed: five are named", marks: filesOf("loose").slice(0, 5), at: ["diff h-files"] },
  one("name of a check in cw.yaml", "check", "diff h-files", "review h-files"),
  one("command in cw.yaml", "run", "diff h-files", "review h-files"),
  nowhere("message and author of a commit", "message", "the dashboard shows what commits change, not the commits"),
  all("reason for no changes", "nochange", "now"),
  nowhere("name of a branch", "branch", "branches that are shown are named by cw"),
  nowhere("text of a pull request", "pull", "no agent can write one: it is made of what people and tasks are called"),
  all("question of the signal", "question", "inbox h-asks", "talk h-asks"),
  one("label of an option", "label", "inbox h-asks", "talk h-asks"),
  all("description of an option", "option", "inbox h-asks", "talk h-asks"),
  nowhere("id of a question", "qid", "questions have ids of cw's own"),
  ...[0, 1, 2, 3].flatMap((n): Field[] => {
    const part = (what: string, marks: Mark[]): Field => ({ what: `${what}, ${n + 1} of 4`, marks: marks.slice(n * 16, n * 16 + 16), at: [`inbox h-calls-${n}`, `talk h-calls-${n}`] });
    return [part("question of a call", marksOf("asktext")), part("label of a call's option", linesOf("asklabel")), part("description of a call's option", marksOf("askmeans").slice(0, linesOf("").length))];
  }),
  nowhere("title of a plan of its own", "plan", "rows show how many steps are done"),
  nowhere("step of a plan of its own", "step", "the current one is a hint of the row, which is an attribute"),
  nowhere("description of such a step", "about", "rows show how many steps are done"),
  all("question to another agent", "talk", "conversation", "talk h-talks", "talk h-answers", "facts h-talks"),
  all("answer to another agent", "answer", "conversation"),
  all("text to another agent", "told", "talk told"),
  { what: "title of an agent that an agent made", marks: titles(), at: ["found Qtitle"] },
  all("response to another agent", "response", "now"),
  one("title of a page", "page", "tree"),
  all("text of a page", "pagebody", "page"),
  one("title of a phase", "phase", "tree"),
  one("name of a task", "task", "tree"),
  all("text of a task", "taskbody", "task"),
  one("path of a task", "path", "task"),
  one("check of a task", "check", "task"),
  all("question of a decision", "decide", "task", "inbox checkpoint"),
  one("option of a decision", "choice", "task", "inbox checkpoint"),
  one("description of such an option", "means", "task", "inbox checkpoint"),
  one("title of a decision that was made", "decision", "tree"),
  one("suggested title of a page", "newpage", "proposals"),
  all("suggested text of a page", "newpagebody", "proposals"),
  one("suggested title of a phase", "newphase", "proposals"),
  one("suggested name of a task", "newtask", "proposals"),
  one("suggested title of a decision", "newdecision", "proposals"),
  ...["path", "check", "choice", "means"].map((name) => one(`suggested ${name} of a task`, `new${name}`, "proposals")),
  all("suggested question of a decision", "newdecide", "proposals"),
  all("suggested text of a task", "newtaskbody", "proposals"),
  nowhere("SUMMARY.md", "summary", "it is the final word of a run that has no other"),
  all("final word of an architect", "said", "now"),
];

/** All places that are looked at. */
export const places: string[] = [...new Set([...fields.flatMap((field) => field.at), "initiatives", "timeline", "activity", "settings projects", "settings limits"])];
