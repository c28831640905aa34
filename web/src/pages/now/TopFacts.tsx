import { useQuery } from "@tanstack/react-query";
import { useCw } from "../../app/cw";
import { openNewAgent, openPalette } from "../../app/overlays";
import { costToday, todayDetail, todayText } from "../../lib/costToday";
import { dayBegin, zone } from "../../lib/days";
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
  const now = Date.now();
  const since = dayBegin(now).toISOString();
  const today = useQuery({ queryKey: ["costs", "today", since], queryFn: ({ signal }) => client.get("/v1/costs", { query: { by: "day", zone, since }, signal }) }).data?.items ?? [];
  const sum = costToday(today, now);
  return today.length > 0 && <span className="text-ink-2 tabular-nums max-desk:hidden" title={todayDetail(sum) || undefined}>{todayText(sum)}</span>;
}
