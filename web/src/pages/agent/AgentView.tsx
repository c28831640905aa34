import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from "react";
import type { Schema } from "../../api/client";
import { wordsOf } from "../../api/problem";
import { agentsQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { sayFailed } from "../../app/notices";
import { Main } from "../../app/TopBar";
import { useMutation } from "../../lib/useMutation";
import { focusAnswerSoon } from "../../questions/focusAnswer";
import { Skeleton } from "../../ui/Skeleton";
import { AgentBar } from "./AgentBar";
import { uncommittedNow, workQuery } from "./agentQueries";
import { Composer } from "./Composer";
import { Facts } from "./Facts";
import { placeOf } from "./order";
import type { Row } from "./rows";
import { StopDialog } from "./StopDialog";
import type { StreamHandle } from "./Stream";
import { Talk, type Target } from "./Talk";
import { Tools, type View } from "./Tools";
import { useFind } from "./useFind";
import { useFolds } from "./useFolds";
import { useReader } from "./useReader";

const RawView = lazy(() => import("./RawView").then((all) => ({ default: all.RawView })));
const WorkView = lazy(() => import("./WorkView").then((all) => ({ default: all.WorkView })));

/** The page of an agent that is known. */
export function AgentView({ agent }: { agent: Schema<"AgentView"> }) {
  const search = useSearch({ from: "/agents/$name" });
  const navigate = useNavigate({ from: "/agents/$name" });
  const view: View = search.view === "diff" || search.view === "raw" || search.view === "facts" ? search.view : "conversation";
  const [following, setFollowing] = useState(search.run === undefined);
  const forgets = useRef(following);
  forgets.current = following;
  const { reader, reading } = useReader(agent.id, search.run, forgets);
  const [target, setTarget] = useState<Target>(null);
  const folds = useFolds();
  const rows = useRef<Row[]>([]);
  const stream = useRef<StreamHandle>(null);
  const composer = useRef<HTMLTextAreaElement>(null);
  const field = useRef<HTMLDivElement>(null);
  const jump = useCallback(
    (to: NonNullable<Target>, place: string) => {
      setFollowing(false);
      setTarget(to);
      const there = rows.current.some((row) => "run" in to && row.kind === "run" && row.run.sessionNumber === to.run);
      if (!there) void reader.jump(place);
    },
    [reader],
  );
  const find = useFind({ text: search.find ?? "", reader, revision: reading.revision, rows, stream, onJump: jump, onLeave: () => setFollowing(false) });
  const set = useCallback((change: { view?: string; find?: string; run?: string }) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true }), [navigate]);

  const run = search.run;
  useEffect(() => {
    if (run !== undefined) jump({ run: Number(run) }, run);
  }, [run, jump]);

  const there = useCallback(() => setTarget(null), []);
  const follow = useCallback(() => {
    setFollowing(true);
    set({ run: undefined });
    if (!reader.state.get().attached) void reader.start();
  }, [reader, set]);
  const { place, stat, stop, asked, setAsked, askStop } = useAgentActs(agent);
  const go = (name: string | null) => name !== null && void navigate({ to: "/agents/$name", params: { name }, search: {} });
  const review = () => void navigate({ to: "/review/$noun/$ref", params: { noun: "agent", ref: agent.name } });
  useKeys("Agent", [
    { key: "j", does: "next agent", hint: true, run: () => go(place.next) },
    { key: "k", does: "previous agent", run: () => go(place.previous) },
    { key: "r", does: "review", hint: true, run: review },
    { key: "s", does: "stop", run: askStop },
  ]);
  useKeys("Conversation", view !== "conversation" ? [] : [
    { key: "m", does: "message", hint: true, run: () => composer.current?.focus() },
    { key: "z", does: folds.allFolded ? "unfold" : "fold all", hint: true, run: folds.toggleAll },
    { key: "f", does: following ? "pause" : "follow", hint: true, run: () => (following ? setFollowing(false) : follow()) },
    { key: "/", does: "search", run: () => field.current?.querySelector("input")?.focus() },
    { key: "a", does: "answer", run: () => answer(rows.current, stream.current) },
  ]);
  return (
    <>
      <AgentBar agent={agent} place={place} onReview={review} onStop={askStop} stopping={stop.isPending} />
      <Main className="grid grid-cols-[minmax(0,1fr)_20rem] max-desk:grid-cols-[minmax(0,1fr)] max-tab:h-[calc(100dvh-6.75rem)] max-tab:overflow-hidden">
        <div className="flex min-h-0 min-w-0 flex-col">
          <Tools
            view={view}
            onView={(next) => set({ view: next === "conversation" ? undefined : next })}
            files={stat?.stat.filesChanged ?? 0}
            runs={agent.runs ?? []}
            run={search.run}
            onRun={(one) => (one === "" ? follow() : set({ run: one }))}
            following={following && reading.attached}
            onFollow={() => (following ? setFollowing(false) : follow())}
            find={search.find ?? ""}
            onFind={(text) => set({ find: text === "" ? undefined : text })}
            onNext={find.next}
            found={find.found}
            field={field}
          />
          {view === "conversation" && (
            <Talk agent={agent} reader={reader} reading={reading} folds={folds} following={following} onFollowing={setFollowing} target={target} onThere={there} rowsRef={rows} streamRef={stream} marked={find.marked}>
              <Composer agent={agent} field={composer} />
            </Talk>
          )}
          <Suspense fallback={<Skeleton rows={12} />}>
            {view === "diff" && <WorkView agent={agent} />}
            {view === "raw" && <RawView key={search.run} agent={agent} run={search.run} />}
          </Suspense>
          {view === "facts" && <div className="min-h-0 flex-1 overflow-auto desk:hidden"><Facts agent={agent} context={reader.conversation.context} /></div>}
        </div>
        <div className="grid min-h-0 max-desk:hidden"><Facts agent={agent} context={reader.conversation.context} /></div>
      </Main>
      {asked && <StopDialog name={agent.name} uncommitted={asked} onStop={(now) => stop.mutate(now)} onClose={() => setAsked(null)} />}
    </>
  );
}

/** Goes to the open questions, and into the first of them. */
function answer(rows: readonly Row[], stream: StreamHandle | null): void {
  const at = rows.findLastIndex((row) => row.kind === "questions" && row.questions.some((one) => one.status === "open"));
  if (at < 0) return;
  stream?.toRow(at);
  focusAnswerSoon(() => document.getElementById("open-questions"));
}

/** Where the agent is among the others, how large its work is, and how it is stopped. */
function useAgentActs(agent: Schema<"AgentView">) {
  const { client } = useCw();
  const queries = useQueryClient();
  const agents = useQuery(agentsQuery(client)).data ?? [];
  const project = agent.projects?.[0]?.project ?? "";
  const stat = useQuery({ ...workQuery(client, agent.id, project), enabled: project !== "" }).data;
  const [asked, setAsked] = useState<string[] | null>(null);
  const stop = useMutation({
    mutationFn: (now: boolean) => client.post("/v1/agents/{id}/stop", { path: { id: agent.id }, body: { now } }),
    onError: (error) => sayFailed(wordsOf(error)),
    onSettled: () => {
      setAsked(null);
      return queries.invalidateQueries({ queryKey: ["agents"] });
    },
  });
  const works = ["pending", "starting", "running"].includes(agent.status);
  const looking = useRef(false);
  const askStop = async () => {
    if (!works || stop.isPending || looking.current) return;
    looking.current = true;
    const files = await uncommittedNow(client, queries, agent);
    looking.current = false;
    if (files.length > 0) setAsked(files);
    else stop.mutate(false);
  };
  return { place: placeOf(agents, agent.name), stat, stop, asked, setAsked, askStop: () => void askStop() };
}
