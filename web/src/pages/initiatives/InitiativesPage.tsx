import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { archivedQuery, costByInitiativeQuery } from "../../api/initiativeQueries";
import { dispatchQuery, initiativesQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { Main, TopBar } from "../../app/TopBar";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { SectionHead } from "../../ui/Section";
import { Skeleton } from "../../ui/Skeleton";
import { ArchivedRow } from "./ArchivedRow";
import { CreateInitiative } from "./CreateInitiative";
import { InitiativeRow } from "./InitiativeRow";

/** All initiatives: how far each is, who works, what it costs, what waits. */
export function InitiativesPage() {
  const { client } = useCw();
  const all = useQuery(initiativesQuery(client));
  const dispatch = useQuery(dispatchQuery(client)).data;
  const costs = useQuery(costByInitiativeQuery(client)).data?.items ?? [];
  const [creating, setCreating] = useState(false);
  const [archived, setArchived] = useState(false);
  const navigate = useNavigate();
  const list = useRef<HTMLUListElement>(null);
  const move = (n: number) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a") ?? [])];
    links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement as HTMLElement) + n))]?.focus();
  };
  useKeys("Initiatives", [
    { key: "j", does: "move", hint: true, run: () => move(1) },
    { key: "k", does: "move", run: () => move(-1) },
    { key: "shift+c", does: "new initiative", hint: true, run: () => setCreating(true) },
  ]);
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Initiatives</h1>
        <span className="flex-1" />
        <Button look="primary" keys="shift+c" onClick={() => setCreating(true)}>New initiative</Button>
      </TopBar>
      <Main>
        {all.isPending && <Skeleton />}
        {all.error && <Failure what="The initiatives could not be read" error={all.error} onRetry={() => void all.refetch()} />}
        {all.data?.length === 0 && (
          <Empty title="No initiatives yet" command={'cw initiative run "Prices can be lowered for a time"'}>
            An initiative is a goal over one or more repositories. Architects cut it into phases and tasks, you accept what they suggest, and agents do it on one branch.
          </Empty>
        )}
        {(all.data?.length ?? 0) > 0 && (
          <ul ref={list}>
            {all.data?.map((one) => (
              <InitiativeRow key={one.id} one={one} dispatch={dispatch} cost={costs.find((row) => row.key === one.id)?.costUsd ?? 0} />
            ))}
          </ul>
        )}
        <div className="px-4 py-3">
          <Button look="quiet" icon={archived ? "u-down" : "u-right"} aria-expanded={archived} onClick={() => setArchived(!archived)}>Archived</Button>
        </div>
        {archived && <Archived />}
      </Main>
      {creating && <CreateInitiative onClose={() => setCreating(false)} onDone={(slug) => void navigate({ to: "/initiatives/$slug", params: { slug } })} />}
    </>
  );
}

function Archived() {
  const { client } = useCw();
  const all = useQuery(archivedQuery(client));
  if (all.error) return <Failure what="The archived ones could not be read" error={all.error} onRetry={() => void all.refetch()} />;
  if (!all.data) return <Skeleton rows={2} />;
  return (
    <section aria-label="Archived initiatives">
      <SectionHead title="Archived" count={all.data.length} />
      <ul>{all.data.map((one) => <ArchivedRow key={one.id} one={one} />)}</ul>
    </section>
  );
}
