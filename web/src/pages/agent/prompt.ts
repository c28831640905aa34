/** What a prompt of cw's has in it for people. */
export interface Prompt {
  /** What the agent is to do, in the words of who made it; "" where the prompt has no such block. */
  task: string;
  /** What the prompt begins with: "role", "answers", "missing signal". */
  about: string;
}

/** Reads the blocks of a prompt. In what others wrote "<" of a block's name stands as "&lt;". */
export function promptOf(body: string): Prompt {
  const task = /^<task>\n([\s\S]*?)\n<\/task>$/m.exec(body)?.[1] ?? "";
  const about = /^\s*<([a-z_]+)>/.exec(body)?.[1] ?? "";
  return { task: task.replace(/&((?:amp;)*)lt;/g, (_, more: string) => (more === "" ? "<" : `&${more.slice(4)}lt;`)), about: about.replaceAll("_", " ") };
}
