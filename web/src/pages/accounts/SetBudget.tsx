import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { accountsQuery, type Budget } from "../../api/accountQueries";
import { agentsQuery, initiativesQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { Seg } from "../../ui/Seg";
import { Choice, TextField } from "../../ui/FormField";
import { nameOf } from "./usage";

type Scope = "account" | "initiative" | "agent";

/** Sets a hard limit of cost, or another one. */
export function SetBudget({ budget, onClose }: { budget: Budget | null; onClose: () => void }) {
  const { client } = useCw();
  const queries = useQueryClient();
  const [scope, setScope] = useState<Scope>((budget?.scope as Scope | undefined) ?? "account");
  const [chosen, setChosen] = useState(budget?.scopeId ?? "");
  const [limit, setLimit] = useState(budget ? String(budget.limitUsd) : "");
  const options = useOptions(scope);
  const ref = budget ? budget.scopeId : options.some((one) => one.value === chosen) ? chosen : (options[0]?.value ?? "");
  const usd = Number(limit);
  const good = ref !== "" && limit.trim() !== "" && Number.isFinite(usd) && usd > 0;
  const set = useMutation({
    mutationFn: () => client.post("/v1/budgets", { body: { scope, ref, limitUsd: usd } }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["budgets"] });
      onClose();
    },
  });
  return (
    <Dialog title={budget ? `Budget of ${budget.scope} ${options.find((one) => one.value === budget.scopeId)?.text ?? budget.name}` : "Set a budget"} onClose={onClose}>
      <form className="grid gap-3" onSubmit={(event) => { event.preventDefault(); if (good) set.mutate(); }}>
        {!budget && (
          <>
            <Seg label="Of what" value={scope} onChoose={setScope} choices={[{ value: "account", text: "Account" }, { value: "initiative", text: "Initiative" }, { value: "agent", text: "Agent" }]} />
            <Choice label="Which" value={ref} options={options} onChoose={setChosen} />
          </>
        )}
        <TextField label="US dollars, all its runs together" inputMode="decimal" required value={limit} onText={setLimit} help="At 80 % cw warns. At the limit a run ends, its agent gets one short run to commit what it has, and stops." />
        {set.error && <Failure what="The budget was not set" error={set.error} />}
        <div className="flex gap-2">
          <Button type="submit" look="primary" disabled={!good} acting={set.isPending}>Set the budget</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Of what there can be a budget. */
function useOptions(scope: Scope): { value: string; text: string }[] {
  const { client } = useCw();
  const accounts = useQuery(accountsQuery(client)).data ?? [];
  const initiatives = useQuery(initiativesQuery(client)).data ?? [];
  const agents = useQuery(agentsQuery(client)).data ?? [];
  switch (scope) {
    case "account":
      return accounts.map((one) => ({ value: one.id, text: nameOf(one) }));
    case "initiative":
      return initiatives.filter((one) => one.status !== "archived").map((one) => ({ value: one.id, text: one.name }));
    case "agent":
      return agents.map((one) => ({ value: one.id, text: one.name }));
  }
}
