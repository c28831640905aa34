import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { conversationQuery, type Conversation } from "../../api/conversationQueries";
import { taskQuery } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { inert, oneLine } from "../../lib/words";
import { Ago } from "../../ui/Ago";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Status } from "../../ui/Status";
import { askedOf, between, markOfConversation, standing } from "./threads";

/** One question with its answer, among what the same two agents asked each other. */
export function Thread({ id, all }: { id: string; all: Conversation[] }) {
  const one = useQuery(conversationQuery(useCw().client, id));
  if (one.error) return <Failure what="This conversation cannot be read" error={one.error} onRetry={() => void one.refetch()} />;
  if (!one.data) return <Skeleton rows={5} />;
  const thread = between(all, one.data);
  return (
    <article className="grid max-w-200 gap-4 p-4">
      <Head one={one.data} />
      {thread.map((each) => <Exchange key={each.id} one={each} here={each.id === id} alone={thread.length === 1} />)}
    </article>
  );
}

function Head({ one }: { one: Conversation }) {
  return (
    <header className="grid gap-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-14 font-bold">
          <AgentLink name={one.from} /> <span className="font-body text-ink-3">asks</span> {one.to ? <AgentLink name={one.to} /> : oneLine(askedOf(one))}
        </h2>
        <Status mark={markOfConversation(one)} />
      </div>
      <p className="text-ink-2">
        {oneLine(standing(one))}
        {one.taskId && <TaskLink id={one.taskId} />}
      </p>
    </header>
  );
}

function AgentLink({ name }: { name: string }) {
  return <Link to="/agents/$name" params={{ name }} className="hover:underline">{name}</Link>;
}

/** It asked about a task, so whoever works on it answers. */
function TaskLink({ id }: { id: string }) {
  const task = useQuery(taskQuery(useCw().client, id)).data;
  return (
    <>
      {" "}It is asked of whoever works on{" "}
      <Link to="/review/$noun/$ref" params={{ noun: "task", ref: id }} className="underline decoration-line-3 underline-offset-2">{task ? oneLine(task.name) : "its task"}</Link>.
    </>
  );
}

function Exchange({ one, here, alone }: { one: Conversation; here: boolean; alone: boolean }) {
  return (
    <section aria-current={here && !alone ? "true" : undefined} className={here || alone ? "grid gap-2" : "grid gap-2 opacity-70"}>
      <Said name={one.from} at={one.createdAt} asks>{one.question}</Said>
      {one.answer !== undefined && one.answeredAt && <Said name={one.to ?? askedOf(one)} at={one.answeredAt}>{one.answer}</Said>}
    </section>
  );
}

function Said({ name, at, asks, children }: { name: string; at: string; asks?: boolean; children: ReactNode }) {
  return (
    <div className={asks ? "rounded-box border border-line bg-sunken" : "ml-8 rounded-box border border-line max-tab:ml-4"}>
      <div className="flex items-center gap-2 px-3 pt-2 text-12 text-ink-3">
        <span className="font-mid text-ink-2">{name}</span>
        <span>{asks ? "asked" : "answered"} <Ago at={at} /> ago</span>
      </div>
      <p className="px-3 pt-0.5 pb-2.5 text-14 break-words whitespace-pre-wrap">{inert(String(children))}</p>
    </div>
  );
}
