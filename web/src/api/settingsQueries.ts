import { queryOptions } from "@tanstack/react-query";
import type { Client, Schema } from "./client";
import { everything } from "./queries";

/*
 * What the settings read. The first word of a key is a noun of touched.ts,
 * where there is one.
 */

export type Project = Schema<"Project">;
export type ProviderView = Schema<"ProviderView">;
export type Token = Schema<"Token">;
export type Setting = Schema<"Setting">;

export const projectsQuery = (client: Client) =>
  queryOptions({ queryKey: ["projects", "all"], queryFn: ({ signal }) => everything((cursor) => client.get("/v1/projects", { query: { limit: 200, cursor }, signal })) });

export const projectFileQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["projects", "file", id], queryFn: ({ signal }) => client.get("/v1/projects/{ref}/file", { path: { ref: id }, signal }), staleTime: 0 });

/** What of the machine changes without an event is read anew each time that it is shown. */
export const providersQuery = (client: Client) =>
  queryOptions({ queryKey: ["providers"], queryFn: async ({ signal }) => (await client.get("/v1/providers", { signal })).items ?? [], staleTime: 0 });

export const tokensQuery = (client: Client) =>
  queryOptions({ queryKey: ["tokens", "all"], queryFn: ({ signal }) => everything((cursor) => client.get("/v1/tokens", { query: { limit: 200, cursor }, signal })) });

export const configQuery = (client: Client) =>
  queryOptions({ queryKey: ["config"], queryFn: async ({ signal }) => (await client.get("/v1/config", { signal })).items ?? [], staleTime: 0 });
