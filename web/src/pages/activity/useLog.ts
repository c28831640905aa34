import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { eventLogQuery, type LoggedEvent } from "../../api/eventLog";
import { useCw } from "../../app/cw";
import { matches, typesOf, type Filter } from "./groups";

/** More than this are not kept: the log is read anew in place of it. */
const MOST_FRESH = 500;

/**
 * The log under a filter: what was read, and how many events came since. They
 * are shown when they are asked for, so nothing moves by itself.
 */
export function useLog(filter: Filter) {
  const { client, live } = useCw();
  const { type, agent, initiative } = filter;
  const log = useInfiniteQuery(eventLogQuery(client, { types: type === undefined ? [] : typesOf(type), agent: agent ?? "", initiative: initiative ?? "" }));
  const [fresh, setFresh] = useState<LoggedEvent[]>([]);
  const [shown, setShown] = useState<LoggedEvent[]>([]);
  const ready = log.data !== undefined;

  useEffect(() => {
    setFresh([]);
    setShown([]);
    if (!ready) return;
    return live.watch((event) => {
      if (matches(event, { type, agent, initiative })) setFresh((before) => [event as unknown as LoggedEvent, ...before].slice(0, MOST_FRESH));
    });
  }, [live, ready, type, agent, initiative]);

  const old = log.data?.pages.flatMap((page) => page.items ?? []) ?? [];
  const showFresh = () => {
    setFresh([]);
    if (fresh.length < MOST_FRESH) return setShown((before) => merged(fresh, before));
    setShown([]);
    void log.refetch();
  };
  return { log, events: merged(shown, old), fresh: fresh.length, showFresh };
}

/** Newer events before older ones, each once: one that came while a page was read may be in both. */
export function merged(newer: LoggedEvent[], older: LoggedEvent[]): LoggedEvent[] {
  const seen = new Set<number | undefined>();
  return [...newer, ...older].filter((event) => !seen.has(event.seq) && seen.add(event.seq)).sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0));
}
