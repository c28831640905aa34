import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { agentQuery, agentsQuery } from "../../api/queries";
import { Problem } from "../../api/problem";
import { useCw } from "../../app/cw";
import { Main, TopBar } from "../../app/TopBar";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { AgentView } from "./AgentView";

/** One agent: what it says and does, what is known of it, what may be done. */
export function AgentPage() {
  const { name } = useParams({ from: "/agents/$name" });
  const { client } = useCw();
  const queries = useQueryClient();
  const known = () => queries.getQueryData(agentsQuery(client).queryKey)?.find((one) => one.name === name || one.id === name);
  const agent = useQuery({ ...agentQuery(client, name), placeholderData: known });
  if (agent.data) return <AgentView key={agent.data.id} agent={agent.data} />;
  const unknown = agent.error instanceof Problem && agent.error.status === 404;
  return (
    <>
      <TopBar><h1 className="truncate text-14 font-bold">{name}</h1></TopBar>
      <Main>
        {agent.isPending && <Skeleton rows={12} />}
        {unknown && <Empty title={`There is no agent ${name}`} command="cw agent list">It may be removed, may be of another home, or its name is written differently.</Empty>}
        {agent.error !== null && !unknown && <Failure what={`${name} could not be read`} error={agent.error} onRetry={() => void agent.refetch()} />}
      </Main>
    </>
  );
}
