/** How a status is shown: a shape, a word and a colour, never one of them alone. */
export interface Mark {
  icon: string;
  word: string;
  /** Colour of the shape. */
  tone: string;
  /** Colour of the word: only exceptions are coloured. */
  text: string;
}

const grey = "text-ink-3";
const calm = "text-ink-2";

function mark(icon: string, word: string, tone: string, loud = false): Mark {
  return { icon, word, tone, text: loud ? tone.replace("need-mark", "need") : calm };
}

/** The ring of a plan: filled in eighths. */
export function ring(done: number, of: number): string {
  if (of <= 0) return "s-run0";
  return `s-run${Math.max(0, Math.min(8, Math.round((8 * done) / of)))}`;
}

/** What of an agent decides on its mark. */
export interface AgentLook {
  status: string;
  activity?: { state?: string } | null;
  plan?: { done: number; of: number } | null;
}

/** The mark of an agent. What it does is shown in the place of the word Running. */
export function agentMark(agent: AgentLook): Mark {
  switch (agent.status) {
    case "pending":
      return mark("s-pending", "Pending", grey);
    case "starting":
      return mark("s-starting", "Starting", "text-work");
    case "running":
      return runningMark(agent);
    case "waiting_for_input":
      return mark("s-waiting", "Waiting", "text-need-mark", true);
    case "parked":
      return mark("s-parked", "Parked", "text-held", true);
    case "idle":
      return mark("s-idle", "Idle", "text-done");
    case "crashed":
      return mark("s-crashed", "Crashed", "text-fail", true);
    case "stopped":
      return mark("s-stopped", "Stopped", grey);
  }
  return mark("s-pending", agent.status, grey);
}

function runningMark(agent: AgentLook): Mark {
  switch (agent.activity?.state) {
    case "retrying":
      return mark("s-retrying", "Retrying", "text-work");
    case "stalled":
      return mark("s-stalled", "Stalled", "text-need-mark", true);
    case "error":
      return mark("s-error", "Error", "text-fail", true);
  }
  return mark(ring(agent.plan?.done ?? 0, agent.plan?.of ?? 0), "Running", "text-work");
}

type Table = Record<string, Mark>;

const tasks: Table = {
  draft: mark("s-draft", "Draft", grey),
  pending: mark("s-pending", "Pending", grey),
  ready: mark("s-ready", "Ready", "text-work"),
  running: mark("s-run4", "Running", "text-work"),
  verifying: mark("s-verifying", "Verifying", "text-work"),
  merging: mark("s-merging", "Merging", "text-work"),
  done: mark("s-idle", "Done", "text-done"),
  blocked: mark("s-blocked", "Blocked", "text-held", true),
  cancelled: mark("s-cancelled", "Cancelled", grey),
};

const phases: Table = {
  draft: mark("s-draft", "Draft", grey),
  approved: mark("s-approved", "Approved", "text-work"),
  running: mark("s-run4", "Running", "text-work"),
  done: mark("s-idle", "Done", "text-done"),
  archived: mark("s-archived", "Archived", grey),
};

const proposals: Table = {
  open: mark("s-open", "Open", "text-need-mark", true),
  accepted: mark("s-idle", "Accepted", "text-done"),
  dismissed: mark("s-dismissed", "Dismissed", grey),
  superseded: mark("s-superseded", "Superseded", grey),
};

const questions: Table = {
  open: mark("s-waiting", "Open", "text-need-mark", true),
  answered: mark("s-idle", "Answered", "text-done"),
  withdrawn: mark("s-dismissed", "Withdrawn", grey),
};

const conversations: Table = {
  pending: mark("s-pending", "Pending", grey),
  delivered: mark("s-delivered", "Delivered", "text-work"),
  answered: mark("s-idle", "Answered", "text-done"),
  cancelled: mark("s-cancelled", "Cancelled", grey),
};

const merges: Table = {
  queued: mark("s-queued", "Queued", grey),
  checking: mark("s-verifying", "Checking", "text-work"),
  conflicted: mark("s-conflict", "Conflicted", "text-fail", true),
  red: mark("s-red", "Red", "text-fail", true),
  merged: mark("s-idle", "Merged", "text-done"),
  dismissed: mark("s-dismissed", "Dismissed", grey),
};

const inbox: Table = {
  question: mark("s-waiting", "Question", "text-need-mark", true),
  checkpoint: mark("s-check", "Checkpoint", "text-need-mark", true),
  proposal: mark("s-open", "Proposal", "text-need-mark", true),
  stalled: mark("s-stalled", "Stalled", "text-need-mark", true),
  limit: mark("s-limit", "Limit", "text-held", true),
  crashed: mark("s-crashed", "Crashed", "text-fail", true),
  merge: mark("s-red", "Merge", "text-fail", true),
  blocked: mark("s-blocked", "Blocked", "text-held", true),
  project: mark("u-gear", "Project", "text-need-mark", true),
  landing: mark("s-merging", "Landing", "text-work"),
};

const tables = { task: tasks, phase: phases, proposal: proposals, question: questions, conversation: conversations, merge: merges, inbox };

/** The mark of a noun's status. One that is not known is shown by its own word. */
export function markOf(noun: keyof typeof tables, status: string): Mark {
  return tables[noun][status] ?? mark("s-pending", status, grey);
}
