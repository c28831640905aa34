/** What the dialog of a new agent asks for. */
export interface NewAgentForm {
  /** Name of a project; "": none. */
  project: string;
  goal: string;
  /** "": the configured one. */
  provider: string;
  account: string;
}

/** A word for a POSIX shell: as it is when nothing in it means anything there, else quoted. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command that does the same in a terminal. */
export function spawnCommand(form: NewAgentForm): string {
  const flags: [string, string][] = [
    ["--project", form.project],
    ["--provider", form.provider],
    ["--account", form.account],
  ];
  const words = ["cw", form.project === "" ? "agent" : "run", ...(form.project === "" ? ["spawn"] : [])];
  for (const [flag, value] of flags) if (value !== "") words.push(flag, quoted(value));
  const goal = form.goal.trim();
  return [...words, ...(goal.startsWith("-") ? ["--"] : []), goal === "" ? "GOAL" : quoted(goal)].join(" ");
}
