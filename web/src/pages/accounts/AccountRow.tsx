import type { AccountView } from "../../api/accountQueries";
import { useNow } from "../../lib/clock";
import { cx } from "../../lib/cx";
import { dollars, oneLine } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Status } from "../../ui/Status";
import { AccountDetail } from "./AccountDetail";
import { kindOf, nameOf, standOf, windowsOf } from "./usage";
import { WindowCell } from "./WindowCell";

interface Props {
  account: AccountView;
  spent: { today: number; month: number };
  month: string;
  here: boolean;
  open: boolean;
  onOpen: () => void;
}

/** Columns of the table of accounts; on a phone each row is a card without borders. */
export const columns =
  "grid grid-cols-[minmax(10rem,1.2fr)_minmax(7rem,0.8fr)_minmax(9rem,1.6fr)_minmax(9rem,1.6fr)_4.5rem_5rem_2rem] gap-x-4 max-desk:grid-cols-[minmax(9rem,1fr)_minmax(7rem,0.8fr)_minmax(8rem,1.2fr)_minmax(8rem,1.2fr)_4rem_4.5rem_2rem] max-desk:gap-x-3 max-tab:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_2.25rem] max-tab:gap-y-2";

/** One account: its name, how it stands, its windows, what it cost. What can be done with it opens below. */
export function AccountRow({ account, spent, month, here, open, onOpen }: Props) {
  const now = useNow();
  const bars = windowsOf(account, now);
  const name = nameOf(account);
  return (
    <li className="border-t border-line">
      <div className={cx(columns, "items-center px-4 py-2 max-tab:py-3", here && "bg-select")}>
        <div className="min-w-0">
          <div className="truncate font-mid">{oneLine(name)}</div>
          <div className="truncate text-12 text-ink-3">{kindOf(account)}</div>
        </div>
        <Status mark={standOf(account, now)} className="min-w-0 max-tab:self-start" />
        <div className="max-tab:order-1 max-tab:col-span-3">
          {bars.short.length > 0 ? <WindowCell bars={bars.short} account={name} /> : <span className="text-12 text-ink-3">{account.usage?.length ? "" : account.kind === "key" ? "no window: pay per use" : "use of its limits is not known yet"}</span>}
        </div>
        <div className={cx("max-tab:order-1 max-tab:col-span-3", bars.long.length === 0 && "max-tab:hidden")}>
          <WindowCell bars={bars.long} account={name} />
        </div>
        <div className="text-right tabular-nums max-tab:order-2 max-tab:text-left">
          <span className="text-ink-3 tab:hidden">Today </span>
          {dollars(spent.today)}
        </div>
        <div className="text-right text-ink-2 tabular-nums max-tab:order-2 max-tab:col-span-2">
          <span className="text-ink-3 tab:hidden">{month} </span>
          {dollars(spent.month)}
        </div>
        <Button look="quiet" className="max-tab:row-start-1 max-tab:col-start-3 max-tab:self-start" icon={open ? "u-down" : "u-more"} aria-expanded={open} aria-label={`Facts and actions of ${name}`} onClick={onOpen} />
      </div>
      {open && <AccountDetail account={account} />}
    </li>
  );
}
