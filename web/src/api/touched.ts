/** What an event says that matters here. */
export interface EventHead {
  seq?: number;
  type: string;
  agentId?: string;
  initiativeId?: string;
}

/**
 * Where no run ends or begins and no worktree comes or goes: what these tell
 * leaves every difference as it was. Each can come often.
 */
const leavesWork = new Set(["agent:starting", "agent:running", "agent:warning", "agent:stalled"]);

/**
 * The first words of the query keys whose data an event makes old. Rows are
 * the truth, so what an event tells is never put into the data: it is read
 * anew. One list for the whole dashboard; a page that shows a noun has its name
 * as the first word of its keys.
 */
export function touched(event: EventHead): string[] {
  const noun = event.type.slice(0, event.type.indexOf(":"));
  switch (noun) {
    case "agent":
      return ["agents", "inbox", "dispatch", "status", "costs", "messages", ...(leavesWork.has(event.type) ? [] : ["diff"])];
    case "message":
      return ["messages", "agents"];
    case "question":
      return ["agents", "inbox", "questions"];
    case "plan":
      return ["agents", "plans"];
    case "conversation":
      return ["conversations", "agents", "status"];
    case "proposal":
      return ["proposals", "inbox", "initiatives"];
    case "initiative":
    case "page":
    case "phase":
    case "task":
      return ["initiatives", "pages", "tasks", "inbox", "dispatch", "status"];
    case "merge":
      return ["merges", "tasks", "inbox", "dispatch", "initiatives", "diff"];
    case "dispatch":
      return ["dispatch", "tasks"];
    case "account":
      return ["accounts", "inbox", "dispatch"];
    case "budget":
      return ["budgets", "inbox"];
    case "project":
      return ["projects", "inbox"];
    case "token":
      return ["tokens"];
    case "disk":
      return ["status", "dispatch"];
  }
  return ["status"];
}
