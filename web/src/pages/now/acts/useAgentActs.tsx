import { useState, type ReactNode } from "react";
import { useCw } from "../../../app/cw";
import { say, sayFailed } from "../../../app/notices";
import type { Agent } from "../agents/rows";
import { canRemove, canResume, canStop, failures, named, remove, restore, resume, stop, toEach, uncommittedNow } from "./calls";
import { MessageDialog } from "./MessageDialog";
import { StopDialog } from "./StopDialog";

export interface AgentActs {
  /** Asks for a text and gives it to them. */
  message: (agents: Agent[]) => void;
  /** Stops those that run; asks first when work of one is not committed. */
  stop: (agents: Agent[]) => void;
  resume: (agents: Agent[]) => void;
  /** Puts their places into the trash, which can be undone. */
  remove: (agents: Agent[]) => void;
  /** What is asked now; to be put somewhere on the page. */
  dialog: ReactNode;
}

type Asked = { kind: "message"; agents: Agent[] } | { kind: "stop"; agents: Agent[]; files: number };

/** What can be done with agents, and what is asked before. */
export function useAgentActs(): AgentActs {
  const { client } = useCw();
  const [asked, setAsked] = useState<Asked | null>(null);

  /** Does it to those that can have it done, and says what became of it. */
  const all = async (agents: Agent[], none: string, can: (agent: Agent) => boolean, act: (agent: Agent) => Promise<unknown>, done: string, undo?: (agent: Agent) => Promise<unknown>) => {
    const able = agents.filter(can);
    if (able.length === 0) return sayFailed(`${named(agents)}: ${none}`);
    const outcome = await toEach(able, act);
    if (outcome.failed.length > 0) sayFailed(failures(outcome));
    if (outcome.done.length === 0) return;
    const back = undo && (() => void toEach(outcome.done, undo).then((undone) => undone.failed.length > 0 && sayFailed(failures(undone))));
    say(`${named(outcome.done)} ${done}`, back);
  };

  const stopNow = (agents: Agent[]) => void all(agents, "nothing runs.", canStop, (agent) => stop(client, agent), "stopped. Work is kept.");
  const askStop = async (agents: Agent[]) => {
    const running = agents.filter(canStop);
    const files = (await Promise.all(running.map((agent) => uncommittedNow(client, agent)))).reduce((sum, n) => sum + n, 0);
    if (files > 0) setAsked({ kind: "stop", agents: running, files });
    else stopNow(agents);
  };

  const close = () => setAsked(null);
  return {
    message: (agents) => agents.length > 0 && setAsked({ kind: "message", agents }),
    stop: (agents) => void askStop(agents),
    resume: (agents) => void all(agents, "it runs already, or waits.", canResume, (agent) => resume(client, agent), "resumed"),
    remove: (agents) => void all(agents, "stop it first.", canRemove, (agent) => remove(client, agent), "removed. Its branch stays.", (agent) => restore(client, agent)),
    dialog:
      asked?.kind === "message" ? <MessageDialog agents={asked.agents} onClose={close} />
      : asked?.kind === "stop" ? <StopDialog agents={asked.agents} files={asked.files} onStop={() => stopNow(asked.agents)} onClose={close} />
      : null,
  };
}
