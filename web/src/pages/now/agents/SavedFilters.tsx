import { useState } from "react";
import { Button } from "../../../ui/Button";
import { Pick } from "../../../ui/Pick";
import { isSet, sameFilter, type Filter } from "./rows";
import { keepFilters, nameFor, savedFilters, type Saved } from "./savedFilters";

const nothing: Filter = { show: "all", find: "", account: "" };

/** Filters that this browser keeps: choose one, keep the one that is set, forget it. */
export function SavedFilters({ filter, onChoose }: { filter: Filter; onChoose: (filter: Filter) => void }) {
  const [kept, setKept] = useState(() => savedFilters(localStorage));
  const keep = (all: Saved[]) => {
    keepFilters(localStorage, all);
    setKept(all);
  };
  const current = kept.find((one) => sameFilter(one, filter));
  return (
    <>
      {kept.length > 0 && (
        <Pick
          label="Saved filters"
          value={current?.name ?? ""}
          choices={[{ value: "", text: "Saved filters" }, ...kept.map((one) => ({ value: one.name, text: one.name }))]}
          onChoose={(name) => {
            const one = kept.find((each) => each.name === name) ?? nothing;
            onChoose({ show: one.show, find: one.find, account: one.account });
          }}
        />
      )}
      {isSet(filter) && !current && <Button look="quiet" onClick={() => keep([...kept, { ...filter, name: nameFor(filter) }])}>Save filter</Button>}
      {current && <Button look="quiet" onClick={() => keep(kept.filter((one) => one !== current))}>Forget filter</Button>}
    </>
  );
}
