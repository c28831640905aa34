import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountsQuery, costsByDayQuery, type AccountView } from "../../api/accountQueries";
import { useCw } from "../../app/cw";
import { useTitle } from "../../app/title";
import { Main, TopBar } from "../../app/TopBar";
import { useNow } from "../../lib/clock";
import { costToday, todayDetail, todayText } from "../../lib/costToday";
import { usePhone } from "../../lib/media";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { AccountList } from "./AccountList";
import { AddAccount } from "./AddAccount";
import { Budgets } from "./Budgets";
import { CostChart } from "./CostChart";
import { chartOf, sinceOf } from "./costDays";
import { Lanes } from "./Lanes";

/** How many days the chart shows, and how wide it is drawn: what is written in it keeps its size. */
const wide = { days: 14, width: 760 };
const narrow = { days: 7, width: 350 };
const none: AccountView[] = [];

/** The logins and keys that agents work with: how far their limits are used, what they cost, who runs on them. */
export function AccountsPage() {
  const { client } = useCw();
  const now = useNow();
  const size = usePhone() ? narrow : wide;
  const since = sinceOf(now, wide.days);
  const accounts = useQuery(accountsQuery(client));
  const costs = useQuery(costsByDayQuery(client, since));
  const [adding, setAdding] = useState(false);
  useTitle("Accounts");
  const rows = costs.data ?? [];
  const today = costToday(rows, now);
  const chart = costs.data && chartOf(rows, now, size.days);
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Accounts</h1>
        <span className="flex-1" />
        {costs.data && <span className="text-ink-2 tabular-nums max-tab:hidden" title={todayDetail(today) || undefined}>{todayText(today)}</span>}
        <Button look="primary" icon="u-plus" keys="c" onClick={() => setAdding(true)}>Add account</Button>
      </TopBar>
      <Main>
        {accounts.error && <Failure what="The accounts cannot be read" error={accounts.error} onRetry={() => void accounts.refetch()} />}
        {accounts.isPending && !accounts.error && <Skeleton rows={8} />}
        {accounts.data?.length === 0 && (
          <Empty title="No accounts yet" command="cw account discover">
            Agents use the login that their CLI has. It stands here after their first run; others are added by a key or a login.
          </Empty>
        )}
        {accounts.data && accounts.data.length > 0 && <AccountList accounts={accounts.data} costs={rows} onAdd={() => setAdding(true)} />}
        {costs.error && <Failure what="The costs cannot be read" error={costs.error} onRetry={() => void costs.refetch()} />}
        <div className="grid border-t border-line desk:grid-cols-[minmax(0,2.5fr)_minmax(18rem,1fr)]">
          {chart ? <CostChart data={chart} width={size.width} /> : <Skeleton rows={8} />}
          <Budgets />
        </div>
        <Lanes accounts={accounts.data ?? none} />
      </Main>
      {adding && <AddAccount onClose={() => setAdding(false)} />}
    </>
  );
}
