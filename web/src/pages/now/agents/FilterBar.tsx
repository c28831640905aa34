import { lazy, Suspense, type RefObject } from "react";
import { Field } from "../../../ui/Field";
import { Seg } from "../../../ui/Seg";
import { Pick } from "../../../ui/Pick";
import { FILTERS, isSet, type Filter, type Show } from "./rows";

// Loaded when there is something to keep or to choose.
const SavedFilters = lazy(() => import("./SavedFilters").then((file) => ({ default: file.SavedFilters })));

const choices: { value: Show; text: string; icon?: string; tone?: string }[] = [
  { value: "all", text: "All" },
  { value: "running", text: "Running", icon: "s-run4", tone: "text-work" },
  { value: "waiting", text: "Waiting", icon: "s-waiting", tone: "text-need-mark" },
  { value: "stalled", text: "Stalled", icon: "s-stalled", tone: "text-need-mark" },
  { value: "crashed", text: "Crashed", icon: "s-crashed", tone: "text-fail" },
  { value: "parked", text: "Parked", icon: "s-parked", tone: "text-held" },
  { value: "idle", text: "Idle", icon: "s-idle", tone: "text-done" },
  { value: "other", text: "Other" },
];

interface Props {
  filter: Filter;
  counts: Record<Show, number>;
  accounts: string[];
  grouped: boolean;
  onFilter: (change: Partial<Filter>) => void;
  onGrouped: (grouped: boolean) => void;
  /** Around the text field, so that a key can lead there. */
  find: RefObject<HTMLDivElement | null>;
}

/** Which agents are shown. What it says stands in the address, too. */
export function FilterBar({ filter, counts, accounts, grouped, onFilter, onGrouped, find }: Props) {
  return (
    <div className="sticky top-0 z-3 flex h-11 items-center gap-2 bg-panel px-4 max-tab:top-12 max-tab:h-13 max-tab:overflow-x-auto max-tab:[scrollbar-width:none]">
      <div className="min-w-0 overflow-x-auto [scrollbar-width:none] max-tab:flex-none max-tab:overflow-visible">
        <Seg
          label="Status"
          value={filter.show}
          choices={choices.map((one) => ({ ...one, count: counts[one.value] }))}
          onChoose={(show) => onFilter({ show })}
        />
      </div>
      <div className="ml-auto flex flex-none items-center gap-1 max-desk:hidden">
        {(isSet(filter) || localStorage.getItem(FILTERS) !== null) && (
          <Suspense fallback={null}>
            <SavedFilters filter={filter} onChoose={onFilter} />
          </Suspense>
        )}
        {(accounts.length > 1 || filter.account !== "") && (
          <Pick label="Account" value={filter.account} choices={[{ value: "", text: "All accounts" }, ...accounts.map((one) => ({ value: one, text: one }))]} onChoose={(account) => onFilter({ account })} />
        )}
        <Pick label="Group" value={grouped ? "initiative" : ""} choices={[{ value: "initiative", text: "By initiative" }, { value: "", text: "By start alone" }]} onChoose={(value) => onGrouped(value !== "")} />
      </div>
      <div ref={find} className="w-56 min-w-36 shrink max-desk:ml-auto max-tab:hidden">
        <Field label="Filter agents" placeholder="Filter agents" icon="u-search" keys="/" value={filter.find} onText={(text) => onFilter({ find: text })} />
      </div>
    </div>
  );
}
