import { useQuery } from "@tanstack/react-query";
import { useCw } from "../../app/cw";
import { openNewAgent, openPalette } from "../../app/overlays";
import { dayBegin, zone } from "../../lib/days";
import { dollars } from "../../lib/words";
import { Button } from "../../ui/Button";

/** Cost of today, the way to everything, and the way to a new agent. */
export function TopFacts() {
  return (
    <div className="ml-auto flex items-center gap-3">
      <CostToday />
      <Button icon="u-search" keys="mod+k" className="max-desk:hidden" onClick={openPalette}>Search or run a command</Button>
      <Button icon="u-plus" look="primary" keys="c" onClick={openNewAgent}>New agent</Button>
    </div>
  );
}

/** What runs that began today cost, those of removed agents too. A budget is never one of a day, so none stands beside it. */
function CostToday() {
  const { client } = useCw();
  const since = dayBegin(Date.now()).toISOString();
  const today = useQuery({ queryKey: ["costs", "today", since], queryFn: ({ signal }) => client.get("/v1/costs", { query: { by: "day", zone, since }, signal }) }).data?.items?.[0];
  return today && <span className="text-ink-2 tabular-nums max-desk:hidden">{dollars(today.costUsd)} today</span>;
}
