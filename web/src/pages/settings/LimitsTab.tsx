import { useQuery, useQueryClient } from "@tanstack/react-query";
import { dispatchQuery, statusQuery } from "../../api/queries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { sayFailed } from "../../app/notices";
import { bytes, oneLine } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Failure } from "../../ui/Failure";
import { SectionHead } from "../../ui/Section";
import { Seg } from "../../ui/Seg";
import { ConfigList } from "./ConfigList";

type State = "running" | "paused" | "draining";

const means: Record<State, string> = {
  running: "Tasks that are ready are started, and what is done is merged.",
  paused: "Nothing is started or merged. Agents that work go on.",
  draining: "Nothing is started; what is done is still merged. Agents that work go on.",
};

/** What may run at once, and whether anything is started at all. */
export function LimitsTab() {
  return (
    <>
      <Dispatcher />
      <ConfigList />
    </>
  );
}

function Dispatcher() {
  const { client } = useCw();
  const queries = useQueryClient();
  const dispatch = useQuery(dispatchQuery(client));
  const status = useQuery(statusQuery(client)).data;
  const change = useMutation({
    mutationFn: (state: State) => client.post("/v1/dispatch", { body: { state } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["dispatch"] }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const data = dispatch.data;
  const state = (data?.state ?? "running") as State;
  const most = (n: number) => (n === 0 ? "no limit" : `at most ${n}`);
  const limits: [string, string][] = data
    ? [
        ["Agents on this machine", `${status ? `${status.agentsAlive} of ` : "at most "}${data.limits.machine}`],
        ["Of one account", most(data.limits.account)],
        ["Of one provider", most(data.limits.provider)],
        ["In one project", most(data.limits.project)],
        ["Of one initiative", most(data.limits.initiative)],
      ]
    : [];
  if (status) limits.push(["Free disk", `${bytes(status.freeBytes)}; no run is started below ${bytes(status.floorBytes)}`]);
  return (
    <section aria-labelledby="dispatcher" className="pb-3">
      <SectionHead id="dispatcher" title="Dispatcher" />
      {dispatch.error && <Failure what="The dispatcher cannot be read" error={dispatch.error} onRetry={() => void dispatch.refetch()} />}
      <div className="flex flex-wrap items-center gap-3 px-4">
        <Seg label="The dispatcher" value={state} onChoose={(next) => change.mutate(next)} choices={[{ value: "running", text: "Runs" }, { value: "paused", text: "Paused" }, { value: "draining", text: "Drains" }]} />
        <span className="text-ink-2">{means[state]}</span>
      </div>
      {data?.pressure && <p className="px-4 pt-2 text-need">Nothing is started now: {oneLine(data.pressure)}</p>}
      <dl className="grid max-w-164 grid-cols-[12rem_minmax(0,1fr)] gap-y-1 px-4 pt-3">
        {limits.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
