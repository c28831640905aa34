import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { budgetsQuery, costByInitiativeQuery, type AgentView, type InitiativeView } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { TopBar } from "../../app/TopBar";
import { dollars } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Kbd } from "../../ui/Kbd";
import { Tag } from "../../ui/Tag";
import { initiativeMark } from "./mark";
import { atWork, progressOf, workWords } from "./tree";

interface Props {
  view: InitiativeView;
  agents: AgentView[];
  /** Work on its way to the branch. */
  merges: number;
  timeline: boolean;
  onTimeline: () => void;
}

/** What it is called, what it costs, and its review. */
export function InitiativeBar({ view, agents, merges, timeline, onTimeline }: Props) {
  const { client } = useCw();
  const mark = initiativeMark(view.status, progressOf(view.tasks));
  return (
    <TopBar>
      <div className="flex min-w-0 items-center gap-2">
        <Link to="/initiatives" className="text-ink-2 hover:text-ink max-tab:hidden">Initiatives</Link>
        <span className="text-ink-3 max-tab:hidden" aria-hidden="true">/</span>
        <Icon name={mark.icon} className={mark.tone} label={mark.word} />
        <h1 className="truncate text-14 font-bold">{view.name}</h1>
      </div>
      <span className="min-w-0 max-desk:hidden">
        <Tag>
          <Icon name="u-branch" small />
          <span className="truncate font-mono">{view.branch}</span>
        </Tag>
      </span>
      <span className="flex-1" />
      <span className="whitespace-nowrap text-ink-2 tabular-nums max-tab:hidden">
        {workWords(atWork(agents))}
        <Cost view={view} />
      </span>
      <Button icon="u-clock" look="quiet" aria-pressed={timeline} onClick={onTimeline} className="max-desk:hidden">Timeline</Button>
      {view.status === "active" && <Hold client={client} view={view} />}
      <Link
        to="/review/$noun/$ref"
        params={{ noun: "initiative", ref: view.slug }}
        className="primary inline-flex h-(--control) items-center gap-1.5 rounded-box border border-ink bg-ink px-2.5 font-mid whitespace-nowrap text-on-ink hover:bg-ink-2"
      >
        Review{merges > 0 && ` ${merges}`}
        <Kbd keys="r" />
      </Link>
    </TopBar>
  );
}

function Cost({ view }: { view: InitiativeView }) {
  const { client } = useCw();
  const budget = useQuery(budgetsQuery(client)).data?.items.find((one) => one.scope === "initiative" && one.scopeId === view.id);
  const cost = useQuery({ ...costByInitiativeQuery(client), enabled: budget === undefined }).data?.items.find((one) => one.key === view.id);
  const spent = budget?.spentUsd ?? cost?.costUsd;
  if (spent === undefined) return null;
  return <> · {dollars(spent)}{budget && ` of ${dollars(budget.limitUsd).replace(/\.00$/, "")}`}</>;
}

/** Holds the tasks of this initiative, and lets them go on. */
function Hold({ client, view }: { client: ReturnType<typeof useCw>["client"]; view: InitiativeView }) {
  const held = view.work.hold === true;
  const hold = useMutation({
    mutationFn: () => client.post("/v1/initiatives/{initiative}", { path: { initiative: view.slug }, body: { work: { hold: !held } } }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <Button
      icon={held ? "u-right" : "u-pause"}
      acting={hold.isPending}
      onClick={() => hold.mutate()}
      title={held ? "Tasks are started again as soon as they can be" : "No more tasks of this initiative are started. Agents that run work on."}
      className="max-tab:hidden"
    >
      {held ? "Start tasks" : "Pause"}
    </Button>
  );
}
