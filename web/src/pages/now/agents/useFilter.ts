import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { sameFilter, showOf, type Filter } from "./rows";

/** How long somebody may go on typing before the address says so, in milliseconds. */
const PAUSE = 250;

/** The filter, which stands in the address. It holds at once; the address follows. */
export function useFilter(): [Filter, (change: Partial<Filter>) => void] {
  const search = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const told: Filter = { show: showOf(search.show), find: search.find ?? "", account: search.account ?? "" };
  const [filter, setFilter] = useState(told);
  const written = useRef(told);
  useEffect(() => {
    // Somebody followed a link.
    if (sameFilter(told, written.current)) return;
    written.current = told;
    setFilter(told);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- told is made of these
  }, [search.show, search.find, search.account]);
  useEffect(() => {
    if (sameFilter(filter, written.current)) return;
    const timer = setTimeout(() => {
      written.current = filter;
      void navigate({
        search: (before) => ({ ...before, show: filter.show === "all" ? undefined : filter.show, find: filter.find || undefined, account: filter.account || undefined }),
        replace: true,
      });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [filter, navigate]);
  return [filter, (change) => setFilter((before) => ({ ...before, ...change }))];
}
