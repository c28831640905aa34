import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { agentsOfQuery, dispatchOfQuery, initiativeQuery, openProposalsQuery, type InitiativeView } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { Main, TopBar } from "../../app/TopBar";
import { cx } from "../../lib/cx";
import { Failure } from "../../ui/Failure";
import { Seg } from "../../ui/Seg";
import { Skeleton } from "../../ui/Skeleton";
import { GraphStrip } from "./GraphStrip";
import { InitiativeBar } from "./InitiativeBar";
import { PagesPane } from "./PagesPane";
import { ProposalsPane } from "./ProposalsPane";
import { TaskPane } from "./TaskPane";
import { TaskTree } from "./TaskTree";
import { TimelinePane } from "./TimelinePane";
import { treeOf } from "./tree";

/** One initiative: its tasks, its pages, and what agents suggest. */
export function InitiativePage() {
  const { slug } = useParams({ from: "/initiatives/$slug" });
  const { client } = useCw();
  const initiative = useQuery(initiativeQuery(client, slug));
  if (initiative.data) return <Whole key={slug} view={initiative.data} />;
  return (
    <>
      <TopBar><h1 className="text-14 font-bold">{slug}</h1></TopBar>
      <Main>{initiative.error ? <Failure what="The initiative could not be read" error={initiative.error} onRetry={() => void initiative.refetch()} /> : <Skeleton rows={12} />}</Main>
    </>
  );
}

const panes = ["tasks", "page", "proposals", "timeline"] as const;
type Pane = (typeof panes)[number];

function Whole({ view }: { view: InitiativeView }) {
  const { client } = useCw();
  const search = useSearch({ from: "/initiatives/$slug" });
  const navigate = useNavigate({ from: "/initiatives/$slug" });
  const dispatch = useQuery(dispatchOfQuery(client, view.slug));
  const agents = useQuery(agentsOfQuery(client, view.slug));
  const proposals = useQuery(openProposalsQuery(client, view.slug));
  const tree = useMemo(() => treeOf(view, dispatch.data, agents.data), [view, dispatch.data, agents.data]);
  const graph = useGraph();
  const open = proposals.data ?? [];
  const task = view.tasks.find((one) => one.id === search.task);
  const pane = panes.find((one) => one === search.view) ?? (task || search.page ? "page" : "tasks");

  const select = (id: string | undefined) => void navigate({ search: (before) => ({ ...before, task: id, view: id ? "page" : before.view }), replace: true });
  const show = (view: Pane) => void navigate({ search: (before) => ({ ...before, view }), replace: true });
  useKeys("Initiative", [
    { key: "r", does: "review", hint: true, run: () => void navigate({ to: "/review/$noun/$ref", params: { noun: "initiative", ref: view.slug } }) },
    { key: "g", does: "graph", hint: true, run: graph.toggle },
    { key: "t", does: "timeline", run: () => show(pane === "timeline" ? "page" : "timeline") },
    ...(pane === "timeline" ? [{ key: "Escape", does: "back to the page", run: () => show("page") }] : task ? [{ key: "Escape", does: "back to the page", run: () => select(undefined) }] : []),
  ]);
  return (
    <>
      <InitiativeBar view={view} agents={agents.data ?? []} merges={dispatch.data?.merges.length ?? 0} timeline={pane === "timeline"} onTimeline={() => show(pane === "timeline" ? "page" : "timeline")} />
      <Main>
        <Panes pane={pane} tasks={view.tasks.length} proposals={open.length} middle={task ? "Task" : "Pages"} onShow={show} />
        <div className="grid h-full grid-cols-[19rem_minmax(0,1fr)_24.5rem] grid-rows-[auto_minmax(0,1fr)] max-desk:h-[calc(100%-3rem)] max-desk:grid-cols-[16rem_minmax(0,1fr)] max-tab:block max-tab:h-auto">
          <TaskTree tree={tree} view={view} dispatch={dispatch.data} selected={task?.id ?? ""} onSelect={select} className={cx("row-span-2", pane !== "tasks" && "max-tab:hidden")} />
          {graph.shown && view.tasks.length > 0 ? <GraphStrip tree={tree} selected={task?.id ?? ""} onSelect={select} /> : <span className="hidden" />}
          <section aria-label={pane === "timeline" ? "Timeline" : task ? "Task" : "Pages"} className={cx("min-h-0 min-w-0 overflow-auto", graph.shown && view.tasks.length > 0 ? "row-start-2" : "row-span-2", "col-start-2", pane === "proposals" && "max-desk:hidden", pane === "tasks" && "max-tab:hidden")}>
            {pane === "timeline" ? <TimelinePane view={view} onSelect={select} onClose={() => show("page")} /> : task ? <TaskPane key={task.id} head={task} tree={tree} view={view} onSelect={select} /> : <PagesPane view={view} chosen={search.page ?? ""} />}
          </section>
          <ProposalsPane
            view={view}
            open={open}
            error={proposals.error}
            className={cx(graph.shown && view.tasks.length > 0 ? "row-start-2" : "row-span-2", "col-start-3 border-l border-line max-desk:col-start-2 max-desk:border-l-0", pane !== "proposals" && "max-desk:hidden")}
          />
        </div>
      </Main>
    </>
  );
}

/** Where there is no room for everything: which part is shown. Beside the tree, one of the others. */
function Panes({ pane, tasks, proposals, middle, onShow }: { pane: Pane; tasks: number; proposals: number; middle: string; onShow: (pane: Pane) => void }) {
  const others = [{ value: "page" as const, text: middle }, { value: "proposals" as const, text: "Proposals", count: proposals }, { value: "timeline" as const, text: "Timeline" }];
  return (
    <div className="border-b border-line px-4 py-2 desk:hidden">
      <span className="max-tab:hidden"><Seg<Pane> label="Beside the tasks" value={pane === "tasks" ? "page" : pane} choices={others} onChoose={onShow} /></span>
      <span className="tab:hidden"><Seg<Pane> label="What is shown" value={pane} choices={[{ value: "tasks", text: "Tasks", count: tasks }, ...others]} onChoose={onShow} /></span>
    </div>
  );
}

const GRAPH = "cw.graph";

/** Whether the graph is shown: as this browser was told last. */
function useGraph(): { shown: boolean; toggle: () => void } {
  const [shown, setShown] = useState(() => localStorage.getItem(GRAPH) !== "off");
  const toggle = () => {
    localStorage.setItem(GRAPH, shown ? "off" : "on");
    setShown(!shown);
  };
  return { shown, toggle };
}
