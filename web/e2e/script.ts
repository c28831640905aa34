/** What an agent of the stage does: internal/cwtest/weblab/script.go says what each step is. */
export type Step =
  | { say: string }
  | { think: string }
  | { plan: { content: string; status: "pending" | "in_progress" | "completed" }[] }
  | { tool: { name: string; input: unknown; output: string; failed?: boolean; takes?: number } }
  | { write: { path: string; text: string; hide?: boolean } }
  | { sh: string }
  | { quiet: string }
  | { flood: { perSecond: number; seconds: number } | { count: number } }
  | { raw: string }
  | { error: string }
  | { ask: { questions: Question[] } }
  | { steps: { title: string; steps: { title: string; description?: string }[] } }
  | { tell: { agentId: string; content: string; session: string; mode: "sync" | "async"; requestKey: string } }
  | { limit: { status: "allowed_warning" | "rejected"; kind: string; used: number; minutes: number } }
  | { cost: { usd: number; input: number; output: number; context: number } }
  | { signal: Signal }
  | { sleep: number }
  | { wait: string }
  | { hang: true }
  | { exit: number };

export interface Question {
  question: string;
  header?: string;
  multiSelect?: boolean;
  options: { label: string; description?: string }[];
}

export interface Signal {
  status: "done" | "questions" | "error";
  result?: string;
  error?: string;
  noChanges?: string;
  questions?: (Question & { id: string })[];
}

/** The end of a run that leaves its work committed. */
export function done(result: string): Step[] {
  return [{ signal: { status: "done", result } }];
}

/** The end of a run that changed nothing. */
export function nothing(result: string): Step[] {
  return [{ signal: { status: "done", result, noChanges: "only words" } }];
}

/** Writes files, tells of it, and commits them. */
export function commits(message: string, files: Record<string, string>): Step[] {
  const writes = Object.entries(files).map(([path, text]): Step => ({ write: { path, text } }));
  return [...writes, { sh: `git add -A && git commit -q -F - <<'END'\n${message}\nEND` }];
}
