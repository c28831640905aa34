import { queryOptions } from "@tanstack/react-query";
import type { Client } from "./client";

/*
 * What is read by more than one page. The first word of a key is a noun of
 * touched.ts: an event about it makes the data be read anew.
 */

/** As many as one page of a list may have. */
const MOST = 500;

export const inboxQuery = (client: Client) =>
  queryOptions({ queryKey: ["inbox"], queryFn: ({ signal }) => client.get("/v1/inbox", { signal }) });

export const agentsQuery = (client: Client) =>
  queryOptions({
    queryKey: ["agents", "all"],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/agents", { query: { limit: MOST, cursor }, signal })),
  });

export const agentQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["agents", "one", id], queryFn: ({ signal }) => client.get("/v1/agents/{id}", { path: { id }, signal }) });

export const initiativesQuery = (client: Client) =>
  queryOptions({
    queryKey: ["initiatives", "all"],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/initiatives", { query: { limit: MOST, cursor }, signal })),
  });

export const statusQuery = (client: Client) =>
  queryOptions({ queryKey: ["status"], queryFn: ({ signal }) => client.get("/v1/status", { signal }) });

export const dispatchQuery = (client: Client) =>
  queryOptions({ queryKey: ["dispatch"], queryFn: ({ signal }) => client.get("/v1/dispatch", { signal }) });

interface Page<T> {
  items: T[] | null;
  next?: string;
}

/** Reads a list to its end, page by page. */
export async function everything<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const one = await page(cursor);
    all.push(...(one.items ?? []));
    cursor = one.next;
  } while (cursor !== undefined && cursor !== "");
  return all;
}
