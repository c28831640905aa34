import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCw } from "../../../app/cw";
import { agentsQuery } from "../../../api/queries";
import { useNow } from "../../../lib/clock";
import { clockTime, count, inert, oneLine, spanInWords } from "../../../lib/words";
import { Acts, Title } from "../../../ui/Acts";
import { Button } from "../../../ui/Button";
import { Form } from "../../../ui/Form";
import { TextArea } from "../../../ui/TextArea";
import { useAgentActs } from "../acts/useAgentActs";
import { uncommitted, type Agent } from "../agents/rows";
import { Fact, Facts, Who, type DetailProps } from "../inbox/parts";
import { useAct } from "./useAct";

/** How a run ended badly, in a few words. */
const crashes: Record<string, string> = {
  no_signal: "it ended without its signal",
  agent_error: "it says that it cannot go on",
  killed: "a signal ended it",
  lost: "its end is not known",
  start_failed: "its CLI could not be started",
  usage_limit: "its account is at its limit",
  auth: "the provider refused the credentials",
  reboot: "the machine was restarted",
};

/** An agent that is silent, or that crashed: what it did last, and how it goes on. */
export function AgentStuckDetail({ item, onDone }: DetailProps) {
  const { client } = useCw();
  const agent = useQuery(agentsQuery(client)).data?.find((one) => one.id === item.agentId);
  const [note, setNote] = useState("");
  const acts = useAgentActs();
  const stalled = item.kind === "stalled";
  const goOn = useAct({
    act: async (to) => {
      const path = { id: item.agentId ?? "" };
      if (stalled) await to.post("/v1/agents/{id}/stop", { path, body: {} });
      await to.post("/v1/agents/{id}/resume", { path, body: note.trim() === "" ? {} : { text: note.trim() } });
    },
    done: () => `${item.agent ?? "It"} goes on`,
    onDone,
  });
  const retry = useAct({
    act: (to) => to.post("/v1/tasks/{task}/retry", { path: { task: item.taskId ?? "" } }),
    done: () => `Started anew: ${item.task}`,
    onDone,
  });
  return (
    <Form onSubmit={() => goOn.mutate()}>
      <Who item={item}>{agent && !item.task && <span className="truncate">{oneLine(agent.title)}</span>}</Who>
      <Title>{stalled ? <Silence since={item.since} /> : `Crashed: ${crashes[agent?.reason ?? ""] ?? inert(item.text)}`}</Title>
      {agent && <State agent={agent} />}
      <TextArea label="Note" placeholder="A note for its next run, if there is something to say" rows={1} value={note} onText={setNote} data-own className="field-sizing-content max-h-32 resize-none" />
      <Acts note={stalled ? "Its processes end, its work is kept, the session goes on" : "Same worktree, same session where its CLI can"}>
        <Button type="submit" look="primary" keys="Enter" acting={goOn.isPending}>{stalled ? "Stop and resume" : "Resume"}</Button>
        {item.taskId && !stalled && <Button acting={retry.isPending} onClick={() => retry.mutate()}>Start the task anew</Button>}
        {stalled && agent && <Button onClick={() => acts.stop([agent])}>Stop</Button>}
        {item.agent && <Open name={item.agent} review={!stalled} />}
      </Acts>
      {acts.dialog}
    </Form>
  );
}

function Silence({ since }: { since: string }) {
  return <>No output for {spanInWords(useNow() - Date.parse(since))}</>;
}

function State({ agent }: { agent: Agent }) {
  const run = (agent.runs ?? []).at(-1);
  const commits = (agent.projects ?? []).reduce((sum, place) => sum + place.commits, 0);
  const dirty = uncommitted(agent);
  return (
    <Facts>
      {agent.activity?.lastAt && <Fact name="Last output">{clockTime(agent.activity.lastAt)}{agent.activity.tool && <>, while it used <code>{agent.activity.tool}</code></>}</Fact>}
      {agent.error !== "" && <Fact name="Why"><span className="line-clamp-3">{inert(agent.error)}</span></Fact>}
      {agent.lastSnippet && agent.lastSnippet !== agent.error && <Fact name="Last words"><span className="line-clamp-3">{inert(agent.lastSnippet)}</span></Fact>}
      {run && agent.status === "crashed" && <Fact name="Exit">{run.exitCode === null ? (run.termSignal ?? "not known") : `code ${run.exitCode}`}, run {run.sessionNumber}</Fact>}
      {agent.pid > 0 && agent.status === "running" && <Fact name="Process">pid {agent.pid}</Fact>}
      <Fact name="Work so far">
        {agent.plan && agent.plan.of > 0 ? `${agent.plan.done} of ${agent.plan.of} plan steps, ` : ""}
        {count(commits, "commit")}, {dirty === 0 ? "nothing known to be uncommitted" : `${count(dirty, "file")} not committed, all kept`}
      </Fact>
    </Facts>
  );
}

const quiet = "inline-flex h-(--control) items-center rounded-box px-2.5 font-mid text-ink-2 hover:bg-hover hover:text-ink";

function Open({ name, review }: { name: string; review: boolean }) {
  return (
    <>
      {review && <Link to="/review/$noun/$ref" params={{ noun: "agent", ref: name }} className={quiet}>Review what is there</Link>}
      <Link to="/agents/$name" params={{ name }} className={quiet}>Open</Link>
    </>
  );
}
