import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { agentsQuery, initiativesQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { useTitle } from "../../app/title";
import { Main, TopBar } from "../../app/TopBar";
import { count } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Pick } from "../../ui/Pick";
import { Skeleton } from "../../ui/Skeleton";
import { EventDays } from "./EventDays";
import { groups, typesOf } from "./groups";
import { useLog } from "./useLog";

/** What happened, newest first. */
export function ActivityPage() {
  const { client } = useCw();
  const search = useSearch({ from: "/activity" });
  const navigate = useNavigate({ from: "/activity" });
  const agents = useQuery(agentsQuery(client)).data ?? [];
  const initiatives = useQuery(initiativesQuery(client)).data ?? [];
  // A link may name an agent or an initiative; events have ids.
  const agent = search.agent === undefined ? undefined : (agents.find((one) => one.name === search.agent)?.id ?? search.agent);
  const initiative = search.initiative === undefined ? undefined : (initiatives.find((one) => one.slug === search.initiative)?.id ?? search.initiative);
  const type = search.type !== undefined && typesOf(search.type).length > 0 ? search.type : undefined;
  const { log, events, fresh, showFresh } = useLog({ type, agent, initiative });
  const choose = (name: "type" | "agent" | "initiative", value: string) =>
    void navigate({ search: ({ [name]: _, ...rest }) => (value === "" ? rest : { ...rest, [name]: value }), replace: true });
  const filtered = type !== undefined || agent !== undefined || initiative !== undefined;
  useTitle("Activity");
  useKeys("Activity", [{ key: "n", does: "show new ones", hint: fresh > 0, run: showFresh }]);
  const typeChoices = [{ value: "", text: "All kinds" }, ...groups.map((one) => ({ value: one.value, text: one.text }))];
  if (type?.includes(":")) typeChoices.push({ value: type, text: type });
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Activity</h1>
        <span className="flex-1" />
        <Pick label="Kind of events" value={type ?? ""} choices={typeChoices} onChoose={(value) => choose("type", value)} />
        <span className="contents max-tab:hidden">
          <Pick label="Agent" value={search.agent ?? ""} choices={choicesOf("All agents", search.agent, agents.map((one) => ({ value: one.name, text: one.name })))} onChoose={(value) => choose("agent", value)} />
          <Pick label="Initiative" value={search.initiative ?? ""} choices={choicesOf("All initiatives", search.initiative, initiatives.map((one) => ({ value: one.slug, text: one.name })))} onChoose={(value) => choose("initiative", value)} />
        </span>
      </TopBar>
      <Main>
        {fresh > 0 && (
          <div className="sticky top-0 z-2 flex justify-center border-b border-line bg-select max-tab:top-12">
            <Button look="quiet" className="w-full" keys="n" onClick={showFresh}>Show {count(fresh, "new event")}</Button>
          </div>
        )}
        {log.error && <Failure what="The log cannot be read" error={log.error} onRetry={() => void log.refetch()} />}
        {log.isPending && !log.error && <Skeleton rows={16} />}
        {log.data && events.length === 0 && (filtered ? <NothingFound onClear={() => void navigate({ search: {}, replace: true })} /> : <NothingYet />)}
        <EventDays events={events} agents={agents} initiatives={initiatives} />
        {log.hasNextPage && <div className="p-4"><Button acting={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>Show older ones</Button></div>}
        {log.data && events.length > 0 && !log.hasNextPage && <p className="p-4 text-12 text-ink-3">{filtered ? "No older event is of this kind." : "This is the first event that is kept."}</p>}
      </Main>
    </>
  );
}

/** What can be chosen, with what a link chose though it is not there any more. */
function choicesOf(all: string, chosen: string | undefined, found: { value: string; text: string }[]): { value: string; text: string }[] {
  const gone = chosen !== undefined && !found.some((one) => one.value === chosen) ? [{ value: chosen, text: chosen }] : [];
  return [{ value: "", text: all }, ...gone, ...found];
}

function NothingFound({ onClear }: { onClear: () => void }) {
  return (
    <Empty title="Nothing of this kind happened">
      <Button onClick={onClear}>Show all events</Button>
    </Empty>
  );
}

function NothingYet() {
  return (
    <Empty title="Nothing happened yet" command={'cw run "what is to be done"'}>
      Everything that agents, people and cw itself do stands here, with its time.
    </Empty>
  );
}
