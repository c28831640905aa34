import { say, sayFailed } from "../../../app/notices";
import type { Client } from "../../../api/client";
import type { Agent } from "../agents/rows";
import { canRemove, canResume, canStop, failures, named, remove, restore, resume, stop, toEach, uncommittedNow } from "./calls";
import type { Asked } from "./useAgentActs";

interface Act {
  can: (agent: Agent) => boolean;
  /** Said when it can be done with none of them. */
  none: string;
  act: (client: Client, agent: Agent) => Promise<unknown>;
  /** What became of so many. */
  done: (count: number) => string;
  undo?: (client: Client, agent: Agent) => Promise<unknown>;
}

const acts = {
  stop: { can: canStop, none: "nothing runs.", act: stop, done: () => "stopped. Work is kept." },
  resume: { can: canResume, none: "it runs already, or waits.", act: resume, done: () => "resumed" },
  remove: { can: canRemove, none: "stop it first.", act: remove, done: (count) => (count === 1 ? "removed. Its branch stays." : "removed. Their branches stay."), undo: restore },
} satisfies Record<string, Act>;

/** Does it to those that can have it done, and says what became of it. */
export async function perform(client: Client, name: keyof typeof acts, agents: Agent[]): Promise<void> {
  const { can, none, act, done, undo }: Act = acts[name];
  const able = agents.filter(can);
  if (able.length === 0) return sayFailed(`${named(agents)}: ${none}`);
  const outcome = await toEach(able, (agent) => act(client, agent));
  if (outcome.failed.length > 0) sayFailed(failures(outcome));
  if (outcome.done.length === 0) return;
  const back = undo && (() => void toEach(outcome.done, (agent) => undo(client, agent)).then((undone) => undone.failed.length > 0 && sayFailed(failures(undone))));
  say(`${named(outcome.done)} ${done(outcome.done.length)}`, back);
}

/** Stops those that run; work that is not committed is asked about before. */
export async function stopOrAsk(client: Client, agents: Agent[], ask: (asked: Asked) => void): Promise<void> {
  const running = agents.filter(canStop);
  const files = (await Promise.all(running.map((agent) => uncommittedNow(client, agent)))).reduce((sum, n) => sum + n, 0);
  if (files > 0) ask({ kind: "stop", agents: running, files });
  else await perform(client, "stop", agents);
}
