import type { AgentView, Dispatch, InitiativeView, Phase, Task } from "../../api/initiativeQueries";
import type { Schema } from "../../api/client";
import { count, oneLine } from "../../lib/words";
import { agentMark, markOf, ring, type Mark } from "../../ui/status";

/** A task as the tree and the graph show it. */
export interface TaskRow {
  task: Task;
  /** Its name without what steers the text around it. */
  name: string;
  mark: Mark;
  /** Who works on it, or how it stands, in a word: "brave-otter", "you", "next". */
  who: string;
  /** Its steps, as far as its agent has a plan: "5/8". */
  steps: string;
  /** Why it is not worked on, or not done; empty when there is nothing to say. */
  why: string;
  /** A person has to act. */
  person: boolean;
}

/** A phase with its tasks. */
export interface PhaseRow {
  phase: Phase;
  mark: Mark;
  done: number;
  of: number;
  tasks: TaskRow[];
}

/** Everything that the tree shows, in order. */
export function treeOf(view: InitiativeView, dispatch: Dispatch | undefined, agents: AgentView[] | undefined): PhaseRow[] {
  const known = factsOf(dispatch, agents);
  return view.phases.map((phase) => {
    const tasks = view.tasks.filter((task) => task.phaseId === phase.id).map((task) => rowOf(task, known));
    const done = tasks.filter((row) => row.task.status === "done").length;
    const plain = markOf("phase", phase.status);
    const mark = phase.status === "running" ? { ...plain, icon: ring(done, tasks.length) } : plain;
    return { phase, mark, done, of: tasks.length, tasks };
  });
}

interface Facts {
  told: Map<string, Dispatch["waiting"][number]>;
  next: string;
  merges: Map<string, { place: number; wait: string; person: boolean }>;
  agents: Map<string, AgentView>;
}

function factsOf(dispatch: Dispatch | undefined, agents: AgentView[] | undefined): Facts {
  const all = dispatch ? [...dispatch.running, ...dispatch.ready, ...dispatch.waiting] : [];
  return {
    told: new Map(all.map((task) => [task.id, task])),
    next: dispatch?.ready[0]?.id ?? "",
    merges: new Map((dispatch?.merges ?? []).map((merge, i) => [merge.taskId, { place: i + 1, wait: merge.wait ?? "", person: merge.waitCode === "person" }])),
    agents: new Map((agents ?? []).map((agent) => [agent.id, agent])),
  };
}

function rowOf(task: Task, known: Facts): TaskRow {
  const told = known.told.get(task.id);
  const agent = task.agentId === undefined ? undefined : known.agents.get(task.agentId);
  const merge = known.merges.get(task.id);
  const person = told?.wait?.code === "person" || (merge?.person ?? false) || agentAsks(task, agent);
  return {
    task,
    name: oneLine(task.name),
    mark: markOfTask(task, agent),
    who: whoOf(task, told?.agent ?? agent?.name ?? "", merge?.place, person, known.next),
    steps: task.status === "running" && agent?.plan ? `${agent.plan.done}/${agent.plan.of}` : "",
    why: oneLine(withoutCommand(whyOf(task, agent, told?.wait?.text ?? "", merge?.wait ?? ""))),
    person,
  };
}

/** A task that runs looks as its agent does when that is not simply at work. */
function markOfTask(task: Task, agent: AgentView | undefined): Mark {
  const mark = markOf("task", task.status);
  if (task.status !== "running" || !agent) return mark;
  if (agent.status === "waiting_for_input" || agent.status === "crashed" || agent.status === "parked") return agentMark(agent);
  return { ...mark, icon: ring(agent.plan?.done ?? 0, agent.plan?.of ?? 0) };
}

function agentAsks(task: Task, agent: AgentView | undefined): boolean {
  return task.status === "running" && agent?.status === "waiting_for_input";
}

function whoOf(task: Task, agent: string, place: number | undefined, person: boolean, next: string): string {
  if (task.status === "merging" && place !== undefined) return `queue ${place}`;
  if (task.status === "running" || task.status === "verifying") return agent;
  if (task.status === "ready" && task.id === next) return "next";
  return person ? "you" : "";
}

/** A reason without the commands that deal with it in a terminal: here are buttons. */
export function withoutCommand(reason: string): string {
  return reason.replace(/[:;] (?:then: )?cw [a-z][^"]*$/, "");
}

function whyOf(task: Task, agent: AgentView | undefined, wait: string, merge: string): string {
  switch (task.status) {
    case "done":
    case "cancelled":
      return "";
    case "running":
      if (agentAsks(task, agent)) return "Waits for your answer";
      return agent?.status === "crashed" ? `Crashed: ${agent.error}` : capital(wait);
    case "blocked":
      return capital(task.blocked ?? wait);
    case "merging":
    case "verifying":
      return capital(merge || wait);
  }
  return capital(wait);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** One line of the tree that can be chosen. */
export type Line = { kind: "phase"; id: string; phase: PhaseRow; open: boolean } | { kind: "task"; id: string; row: TaskRow };

/** The lines that are to be seen, top to bottom. */
export function linesOf(tree: PhaseRow[], folded: ReadonlySet<string>): Line[] {
  return tree.flatMap((phase): Line[] => {
    const open = !folded.has(phase.phase.id);
    const head: Line = { kind: "phase", id: phase.phase.id, phase, open };
    return open ? [head, ...phase.tasks.map((row): Line => ({ kind: "task", id: row.task.id, row }))] : [head];
  });
}

/** The line n away from the one with this id; from nowhere the first. */
export function lineAt(lines: Line[], id: string, n: number): Line | undefined {
  const i = lines.findIndex((line) => line.id === id);
  return i < 0 ? lines[0] : lines[Math.max(0, Math.min(lines.length - 1, i + n))];
}

/** How far the tasks of an initiative are, as lists tell it. */
export function progressOf(tasks: Pick<Task, "status">[]): Schema<"Progress"> {
  return { tasks: tasks.length, done: tasks.filter((task) => task.status === "done").length };
}

/** "6 agents work". */
export function atWork(agents: Pick<AgentView, "status">[]): number {
  return agents.filter((agent) => agent.status === "running" || agent.status === "starting").length;
}

export function workWords(n: number): string {
  return `${count(n, "agent")} ${n === 1 ? "works" : "work"}`;
}
