import { infiniteQueryOptions } from "@tanstack/react-query";
import type { components } from "./schema";
import type { Client, Schema } from "./client";

export type LoggedEvent = Schema<"Event">;

export interface LogAsked {
  /** Nothing: all types. */
  types: components["schemas"]["EventType"][];
  /** Name or id; "": of all. */
  agent: string;
  initiative: string;
}

const PAGE = 100;

/**
 * The log of what happened, newest first, page by page. What is on a page
 * never changes, so events do not make it old: what comes is put on top by who
 * shows it, when a person says so.
 */
export const eventLogQuery = (client: Client, asked: LogAsked) =>
  infiniteQueryOptions({
    queryKey: ["event-log", asked],
    queryFn: ({ pageParam, signal }) =>
      client.get("/v1/events/log", { query: { before: pageParam, limit: PAGE, type: asked.types.length > 0 ? asked.types : undefined, agent: asked.agent, initiative: asked.initiative }, signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.older || undefined,
    staleTime: "static",
    gcTime: 0,
  });
