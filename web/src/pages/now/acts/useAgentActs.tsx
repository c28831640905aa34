import { lazy, Suspense, useState, type ReactNode } from "react";
import { useCw } from "../../../app/cw";
import type { Agent } from "../agents/rows";

// Loaded when something is asked, or done.
const Asking = lazy(() => import("./Asking").then((file) => ({ default: file.Asking })));
const performing = () => import("./perform");

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

/** What is asked before something is done. */
export type Asked = { kind: "message"; agents: Agent[] } | { kind: "stop"; agents: Agent[]; files: number };

/** What can be done with agents, and what is asked before. */
export function useAgentActs(): AgentActs {
  const { client } = useCw();
  const [asked, setAsked] = useState<Asked | null>(null);
  const perform = (name: "stop" | "resume" | "remove", agents: Agent[]) => void performing().then((file) => file.perform(client, name, agents));
  return {
    message: (agents) => agents.length > 0 && setAsked({ kind: "message", agents }),
    stop: (agents) => void performing().then((file) => file.stopOrAsk(client, agents, setAsked)),
    resume: (agents) => perform("resume", agents),
    remove: (agents) => perform("remove", agents),
    dialog: asked && (
      <Suspense fallback={null}>
        <Asking asked={asked} onStop={(agents) => perform("stop", agents)} onClose={() => setAsked(null)} />
      </Suspense>
    ),
  };
}
