import { useQuery } from "@tanstack/react-query";
import { useCw } from "../../app/cw";
import { openNewAgent, openPalette } from "../../app/overlays";
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

/** What runs that began today cost, those of removed agents too. Days are those of UTC, as everywhere in cw. */
function CostToday() {
  const { client } = useCw();
  const costs = useQuery({ queryKey: ["costs", "day"], queryFn: ({ signal }) => client.get("/v1/costs", { query: { by: "day" }, signal }) }).data;
  const today = new Date().toISOString().slice(0, 10);
  const row = costs?.items?.find((one) => one.key === today);
  if (!row) return null;
  return <span className="text-ink-2 tabular-nums max-desk:hidden">{dollars(row.costUsd)} today</span>;
}
