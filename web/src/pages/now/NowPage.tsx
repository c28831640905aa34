import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useCw } from "../../app/cw";
import { useTitle } from "../../app/title";
import { Main, TopBar } from "../../app/TopBar";
import { agentsQuery, inboxQuery, initiativesQuery } from "../../api/queries";
import { focusAnswerSoon } from "../../questions/focusAnswer";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Agents } from "./agents/Agents";
import type { Agent } from "./agents/rows";
import { Inbox } from "./inbox/Inbox";
import { useChosen } from "./inbox/useChosen";
import { TopFacts } from "./TopFacts";

// Seen once, before the first agent.
const NoAgents = lazy(() => import("./NoAgents").then((file) => ({ default: file.NoAgents })));

/** Who waits for me, then who works, is stuck, and what it costs. */
export function NowPage() {
  const { client } = useCw();
  const inbox = useQuery(inboxQuery(client));
  const agents = useQuery(agentsQuery(client));
  const initiatives = useQuery(initiativesQuery(client));
  const items = inbox.data?.items ?? [];
  const chosen = useChosen(items);
  useTitle("Now");

  const answer = (agent: Agent | null) => {
    const asks = agent && items.find((item) => item.agentId === agent.id);
    if (asks && asks.key !== chosen.key) chosen.choose(asks.key);
    focusAnswerSoon(() => document.getElementById("inbox-detail"));
  };
  const here = items.find((item) => item.key === chosen.key);
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Now</h1>
        <TopFacts />
      </TopBar>
      <Main>
        <div data-flow>
          {inbox.error && <Failure what="What waits for you cannot be read" error={inbox.error} onRetry={() => void inbox.refetch()} />}
          {chosen.shown.length > 0 && <Inbox items={items} chosen={chosen} />}
          {agents.error && <Failure what="The agents cannot be read" error={agents.error} onRetry={() => void agents.refetch()} />}
          {agents.isPending && <Skeleton rows={12} />}
          {agents.data?.length === 0 && items.length === 0 && <Suspense fallback={null}><NoAgents /></Suspense>}
          {agents.data && agents.data.length > 0 && <Agents agents={agents.data} initiatives={initiatives.data ?? none} chosen={here?.agentId ?? null} onAnswer={answer} />}
        </div>
      </Main>
    </>
  );
}

const none: never[] = [];
