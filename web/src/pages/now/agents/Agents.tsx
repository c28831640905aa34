import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { useCw } from "../../../app/cw";
import { useKeys, type Key } from "../../../app/keys";
import { dispatchQuery, inboxQuery } from "../../../api/queries";
import type { Schema } from "../../../api/client";
import { usePhone } from "../../../lib/media";
import { count } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import { useAgentActs } from "../acts/useAgentActs";
import { FilterBar } from "./FilterBar";
import { accountOf, countsOf, fits, ordered, rowsOf, type Agent, type Row } from "./rows";
import { Table, type Looked } from "./Table";
import { useFilter } from "./useFilter";
import { useSteady } from "./useSteady";

// Loaded when something is selected.
const BulkBar = lazy(() => import("./BulkBar").then((file) => ({ default: file.BulkBar })));

const GROUPED = "cw.grouped";

interface Props {
  agents: Agent[];
  initiatives: Schema<"Initiative">[];
  /** The agent of the chosen item of the inbox. */
  chosen: string | null;
  /** Leads to what an agent asks; false when it asks nothing. */
  onAnswer: (agent: Agent | null) => void;
}

/** All agents: filters, the table, and what can be done with those that are selected. */
export function Agents({ agents, initiatives, chosen, onAnswer }: Props) {
  const [filter, setFilter] = useFilter();
  const [grouped, setGrouped] = useState(() => localStorage.getItem(GROUPED) !== "no");
  const [cursor, setCursor] = useState<string | null>(null);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const find = useRef<HTMLDivElement>(null);
  const looked = useRef<Looked>({ first: () => null, focused: null, pointed: null });
  const acts = useAgentActs();
  const around = useAround();

  const wanted = useMemo(() => {
    const names = new Map(initiatives.map((one) => [one.id, one.name]));
    return ordered(agents.filter((agent) => fits(agent, filter, names.get(agent.initiativeId) ?? "")), initiatives, grouped);
  }, [agents, initiatives, filter, grouped]);
  const shown = useSteady(wanted, `${grouped}\n${filter.show}\n${filter.find}\n${filter.account}`, {
    anchors: () => [looked.current.first(), looked.current.focused, looked.current.pointed].filter((id): id is string => id !== null),
    pointed: () => looked.current.pointed !== null,
  });
  const rows = useMemo(() => rowsOf(shown.rows, initiatives, grouped), [shown.rows, initiatives, grouped]);
  const picked = shown.rows.filter((agent) => selected.has(agent.id));
  const toggle = useCallback((id: string) => {
    setSelected((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);

  useAgentKeys({ rows, cursor, setCursor, picked, toggle, clear: () => setSelected(new Set()), acts, find, onAnswer });
  const phone = usePhone();
  return (
    <section aria-label="Agents">
      <FilterBar
        filter={filter}
        counts={useMemo(() => countsOf(agents), [agents])}
        accounts={useMemo(() => [...new Set(agents.map(accountOf))].sort(), [agents])}
        grouped={grouped}
        onFilter={setFilter}
        onGrouped={(on) => {
          localStorage.setItem(GROUPED, on ? "yes" : "no");
          setGrouped(on);
        }}
        find={find}
      />
      {picked.length > 0 && (
        <Suspense fallback={null}>
          <BulkBar agents={picked} acts={acts} onClear={() => setSelected(new Set())} />
        </Suspense>
      )}
      {shown.held.length > 0 && (
        <div className="sticky top-18 z-3 flex h-0 justify-center max-tab:top-26">
          <Button look="primary" className="animate-enter" onClick={shown.admit}>{count(shown.held.length, "new agent")}</Button>
        </div>
      )}
      {rows.length === 0 && <p className="border-t border-line px-4 py-6 text-ink-3">No agent fits this filter.</p>}
      {rows.length > 0 && <Table phone={phone} rows={rows} cursor={cursor} selected={selected} leaving={shown.leaving} chosen={chosen} {...around} looked={looked} onCursor={setCursor} onSelect={toggle} />}
      {acts.dialog}
    </section>
  );
}

/** What is known of agents' tasks, their merges and what they suggest. */
function useAround() {
  const { client } = useCw();
  const dispatch = useQuery(dispatchQuery(client)).data;
  const inbox = useQuery(inboxQuery(client)).data;
  return useMemo(
    () => ({
      merges: new Map((dispatch?.merges ?? []).map((one) => [one.taskId, one])),
      tasks: new Map([dispatch?.running, dispatch?.ready, dispatch?.waiting].flatMap((list) => list ?? []).map((one) => [one.id, one])),
      proposals: new Map((inbox?.items ?? []).filter((one) => one.kind === "proposal" && one.agentId).map((one) => [one.agentId as string, one.count])),
    }),
    [dispatch, inbox],
  );
}

interface Keyed {
  rows: Row[];
  cursor: string | null;
  setCursor: (id: string | null) => void;
  picked: Agent[];
  toggle: (id: string) => void;
  clear: () => void;
  acts: ReturnType<typeof useAgentActs>;
  find: React.RefObject<HTMLDivElement | null>;
  onAnswer: (agent: Agent | null) => void;
}

/** The keys of the table. What they do is done to the selected rows, else to the cursor's. */
function useAgentKeys({ rows, cursor, setCursor, picked, toggle, clear, acts, find, onAnswer }: Keyed): void {
  const navigate = useNavigate();
  const agents = rows.flatMap((row) => (row.kind === "agent" ? [row.agent] : []));
  const at = agents.findIndex((agent) => agent.id === cursor);
  const here = agents[at] ?? null;
  const several = picked.length > 0 ? picked : here ? [here] : [];
  const move = (by: number) => {
    const next = agents[Math.min(Math.max(at + by, 0), agents.length - 1)];
    if (next) setCursor(next.id);
  };
  const keys: Key[] = [
    { key: "j", does: "move", hint: true, run: () => move(1) },
    { key: "k", does: "move up", run: () => move(at < 0 ? 1 : -1) },
    { key: "ArrowDown", does: "next agent", run: () => move(1) },
    { key: "ArrowUp", does: "previous agent", run: () => move(at < 0 ? 1 : -1) },
    { key: "Enter", does: "open", hint: true, run: () => here && void navigate({ to: "/agents/$name", params: { name: here.name } }) },
    { key: "a", does: "answer", hint: true, run: () => onAnswer(here) },
    { key: "m", does: "message", hint: true, run: () => acts.message(several) },
    { key: "x", does: "select", hint: true, run: () => here && toggle(here.id) },
    { key: "s", does: "stop", hint: true, run: () => several.length > 0 && acts.stop(several) },
    { key: "r", does: "review", run: () => here && void navigate({ to: "/review/$noun/$ref", params: { noun: "agent", ref: here.name } }) },
    { key: "/", does: "filter", run: () => find.current?.querySelector("input")?.focus() },
    { key: "Escape", does: "select none, leave the field", typing: true, run: () => (document.activeElement instanceof HTMLInputElement ? document.activeElement.blur() : clear()) },
  ];
  useKeys("Agents", keys);
}
