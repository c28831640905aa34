import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { budgetsQuery, type Budget } from "../../api/accountQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { count, dollars, oneLine } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Failure } from "../../ui/Failure";
import { Meter } from "../../ui/Meter";
import { SectionHead } from "../../ui/Section";
import { Skeleton } from "../../ui/Skeleton";
import { SetBudget } from "./SetBudget";

/** The hard limits of cost, and what happens at each. */
export function Budgets() {
  const { client } = useCw();
  const budgets = useQuery(budgetsQuery(client));
  const [setting, setSetting] = useState<Budget | "new" | null>(null);
  return (
    <section aria-labelledby="budgets">
      <SectionHead id="budgets" title="Budgets" count={budgets.data?.length || undefined}>
        <Button look="quiet" className="ml-auto" onClick={() => setSetting("new")}>Set a budget</Button>
      </SectionHead>
      {budgets.error && <Failure what="The budgets cannot be read" error={budgets.error} onRetry={() => void budgets.refetch()} />}
      {budgets.isPending && !budgets.error && <Skeleton rows={3} />}
      {budgets.data?.length === 0 && <p className="px-4 pb-4 text-ink-3">No budget. Nothing is stopped for what it costs.</p>}
      <ul className="px-4 pb-3">
        {budgets.data?.map((one) => <BudgetRow key={`${one.scope} ${one.scopeId}`} budget={one} onChange={() => setSetting(one)} />)}
      </ul>
      {setting && <SetBudget budget={setting === "new" ? null : setting} onClose={() => setSetting(null)} />}
    </section>
  );
}

function BudgetRow({ budget, onChange }: { budget: Budget; onChange: () => void }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const set = useMutation({
    mutationFn: (limitUsd: number) => client.post("/v1/budgets", { body: { scope: budget.scope, ref: budget.scopeId, limitUsd } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["budgets"] }),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  const used = Math.round((100 * budget.spentUsd) / budget.limitUsd);
  const own = oneLine(budget.name);
  const name = `${budget.scope} ${own}`;
  const takeAway = () => set.mutate(0, { onSuccess: () => say(`The budget of ${name} is taken away.`, () => set.mutate(budget.limitUsd)) });
  return (
    <li className="grid gap-1 border-b border-line py-2 last:border-b-0">
      <div className="flex items-baseline justify-between gap-2">
        <span className="min-w-0 truncate"><span className="font-mid">{own}</span> <span className="text-12 text-ink-3">{budget.scope}</span></span>
        <span className="whitespace-nowrap tabular-nums">{dollars(budget.spentUsd)} of {dollars(budget.limitUsd)}</span>
      </div>
      <Meter label={`Budget of ${name}: ${used} % spent`} value={used} tone={used >= 100 ? "fail" : used >= 80 ? "need" : "calm"} />
      <div className="flex items-center gap-1 text-12 text-ink-2">
        <span className="min-w-0 flex-1">{fateOf(budget)}{(budget.unpriced ?? 0) > 0 && <span className="text-need">{`. ${count(budget.unpriced ?? 0, "run")} of unknown price not counted`}</span>}</span>
        <Button look="quiet" className="text-12" aria-label={`Change the budget of ${name}`} onClick={onChange}>Change</Button>
        <Button look="quiet" icon="u-x" aria-label={`Take the budget of ${name} away`} title="Take it away" acting={set.isPending} onClick={takeAway} />
      </div>
    </li>
  );
}

/** What happens at the limit, or has happened. */
function fateOf(budget: Budget): string {
  if (budget.spentAt) return "Spent: no run begins that would count for it";
  const many = budget.scope !== "agent";
  return `At ${dollars(budget.limitUsd)} ${many ? "its agents commit and stop" : "it commits and stops"}`;
}
