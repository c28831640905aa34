import { useState } from "react";
import type { AccountView, CostRow } from "../../api/accountQueries";
import { useKeys } from "../../app/keys";
import { useNow } from "../../lib/clock";
import { cx } from "../../lib/cx";
import { count } from "../../lib/words";
import { SectionHead } from "../../ui/Section";
import { AccountRow, columns } from "./AccountRow";
import { spentOf } from "./costDays";
import { useAccountActs } from "./useAccountActs";

/** The accounts, one row each. */
export function AccountList({ accounts, costs, onAdd }: { accounts: AccountView[]; costs: CostRow[]; onAdd: () => void }) {
  const now = useNow();
  const [chosen, setChosen] = useState<string | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const at = Math.max(0, accounts.findIndex((one) => one.id === chosen));
  const here = accounts[at] as AccountView;
  const acts = useAccountActs(here);
  const move = (by: number) => setChosen(accounts[Math.max(0, Math.min(accounts.length - 1, chosen === null ? 0 : at + by))]?.id ?? null);
  const toggle = (id: string) => {
    setChosen(id);
    setOpen(open === id ? null : id);
  };
  useKeys("Accounts", [
    { key: "j", does: "move", hint: true, run: () => move(1) },
    { key: "k", does: "move back", run: () => move(-1) },
    { key: "Enter", does: "facts and actions", run: () => toggle(here.id) },
    { key: "t", does: "test", hint: true, run: () => acts.test.mutate() },
    { key: "o", does: "on or off", hint: true, run: () => acts.change.mutate({ enabled: !here.enabled }) },
    { key: "c", does: "add", hint: true, run: onAdd },
  ]);
  const used = accounts.filter((one) => (one.agents?.length ?? 0) > 0);
  const agents = used.reduce((sum, one) => sum + (one.agents?.length ?? 0), 0);
  const month = new Date(now).toLocaleDateString("en-GB", { month: "long", timeZone: "UTC" });
  return (
    <section aria-labelledby="accounts">
      <SectionHead id="accounts" title="Accounts" count={accounts.length}>
        <span className="min-w-0 flex-1 truncate text-ink-3">
          {agents > 0 && `${count(agents, "agent")} ${agents === 1 ? "runs" : "run"} on ${used.length} of them; `}the mark shows how much of the window has passed
        </span>
      </SectionHead>
      <div aria-hidden="true" className={cx(columns, "px-4 pb-1 text-11 text-ink-3 max-tab:hidden")}>
        <span>Account</span>
        <span>State</span>
        <span>Hours</span>
        <span>Week or month</span>
        <span className="text-right">Today</span>
        <span className="text-right">{month}</span>
      </div>
      <ul>
        {accounts.map((one) => (
          <AccountRow key={one.id} account={one} spent={spentOf(costs, now, one.id)} month={month} here={chosen === one.id} open={open === one.id} onOpen={() => toggle(one.id)} />
        ))}
      </ul>
    </section>
  );
}
