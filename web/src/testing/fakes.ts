import { QueryClient } from "@tanstack/react-query";
import { Client, type Schema } from "../api/client";
import { Live } from "../api/live";
import { Session } from "../api/session";
import type { Cw } from "../app/cw";

type Agent = Schema<"AgentView">;
type Item = Schema<"InboxItem">;

/** An agent at rest, with what a test says of it. */
export function agentOf(name: string, more: Partial<Agent> = {}): Agent {
  return {
    id: `id-${name}`, name, title: `Task of ${name}`, status: "idle", reason: "", provider: "claude", accountId: "a", accountName: "team-1", activity: null, agentCwd: "", baseBranch: "", baseCommit: "", branch: "",
    costUsd: 0, createdAt: "2026-11-23T05:00:00Z", updatedAt: "2026-11-23T05:10:00Z", definition: "execute", error: "", exitCode: null, headCommit: "", initiativeId: "", mode: "execute", model: "", outputPath: "",
    parentId: "", pendingQuestions: [], phaseId: "", pid: 0, plan: null, projects: [], queuedMessages: 0, result: "", retryAt: null, runs: [], sessionId: "", sessionNumber: 1, settling: false, taskId: "",
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }, warnings: [], worktree: "", worktreeState: "", ...more,
  } as Agent;
}

/** One thing that waits, with what a test says of it. */
export function itemOf(key: string, more: Partial<Item> = {}): Item {
  return { key, kind: key.slice(0, key.indexOf(":")), text: `text of ${key}`, hint: "", count: 1, since: "2026-11-23T05:00:00Z", behind: 0, ...more } as Item;
}

/** What a daemon answers: by "GET /v1/inbox", the body or a function of the request's body, at once or later. */
export type Answers = Record<string, unknown>;

export interface Refusal {
  status: number;
  code: string;
  message: string;
}

export const refuse = (status: number, code: string, message: string): { refusal: Refusal } => ({ refusal: { status, code, message } });

/** Everything a part of the dashboard may use, in front of a daemon that gives these answers. */
export function cwWith(answers: Answers): { cw: Cw; asked: { line: string; body: unknown }[] } {
  const asked: { line: string; body: unknown }[] = [];
  globalThis.fetch = (async (url: string, init: RequestInit = {}) => {
    const line = `${init.method ?? "GET"} ${String(url).replace(/\?.*/, "")}`;
    const body = init.body ? (JSON.parse(init.body as string) as unknown) : undefined;
    asked.push({ line, body });
    const known = answers[line];
    const answer = typeof known === "function" ? await (known as (body: unknown) => unknown)(body) : known;
    const refused = (answer as { refusal?: Refusal } | undefined)?.refusal ?? (answer === undefined ? { status: 404, code: "not_found", message: `nothing answers ${line}` } : null);
    return new Response(JSON.stringify(refused ?? answer), { status: refused?.status ?? 200 });
  }) as typeof fetch;
  const session = new Session(localStorage);
  session.keep({ id: "session", token: "token" });
  const client = new Client(session, { token: () => Promise.resolve(session.token), doubt: () => undefined });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } });
  return { cw: { client, queries, live: new Live(client, queries) }, asked };
}
