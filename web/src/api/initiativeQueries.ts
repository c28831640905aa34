import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Client, Schema } from "./client";
import { everything } from "./queries";

/*
 * What the pages about initiatives read. The first word of a key is a noun of
 * touched.ts.
 */

export type InitiativeView = Schema<"InitiativeView">;
export type Task = Schema<"Task">;
export type Phase = Schema<"Phase">;
export type Proposal = Schema<"Proposal">;
export type ProposalView = Schema<"ProposalView">;
export type PageHead = Schema<"Document">;
export type Dispatch = Schema<"DispatchStatus">;
export type AgentView = Schema<"AgentView">;

export const initiativeQuery = (client: Client, ref: string) =>
  queryOptions({
    queryKey: ["initiatives", "one", ref],
    queryFn: ({ signal }) => client.get("/v1/initiatives/{initiative}", { path: { initiative: ref }, signal }),
  });

export const archivedQuery = (client: Client) =>
  queryOptions({
    queryKey: ["initiatives", "archived"],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/initiatives", { query: { archived: true, limit: 200, cursor }, signal })),
  });

/** The dispatcher as one initiative sees it. */
export const dispatchOfQuery = (client: Client, ref: string) =>
  queryOptions({ queryKey: ["dispatch", "of", ref], queryFn: ({ signal }) => client.get("/v1/dispatch", { query: { initiative: ref }, signal }) });

/** Who works for an initiative. */
export const agentsOfQuery = (client: Client, ref: string) =>
  queryOptions({
    queryKey: ["agents", "of", ref],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/agents", { query: { initiative: ref, limit: 500, cursor }, signal })),
  });

export const openProposalsQuery = (client: Client, ref: string) =>
  queryOptions({
    queryKey: ["proposals", "open", ref],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/proposals", { query: { initiative: ref, status: ["open"], limit: 200, cursor }, signal })),
  });

/** One proposal beside what it changes. stamp says how its target is now, so that it is read anew when that changed. */
export const proposalQuery = (client: Client, id: string, stamp: string) =>
  queryOptions({
    queryKey: ["proposals", "one", id, stamp],
    queryFn: ({ signal }) => client.get("/v1/proposals/{proposal}", { path: { proposal: id }, signal }),
    placeholderData: keepPreviousData,
  });

export const taskQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["tasks", "one", id], queryFn: ({ signal }) => client.get("/v1/tasks/{task}", { path: { task: id }, signal }) });

export const pageQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["pages", "one", id], queryFn: ({ signal }) => client.get("/v1/pages/{page}", { path: { page: id }, signal }) });

/** A page as the editor has it. */
export const documentQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["pages", "document", id], queryFn: ({ signal }) => client.get("/v1/pages/{page}/document", { path: { page: id }, signal }) });

export const budgetsQuery = (client: Client) =>
  queryOptions({ queryKey: ["budgets"], queryFn: ({ signal }) => client.get("/v1/budgets", { signal }) });

export const costByInitiativeQuery = (client: Client) =>
  queryOptions({ queryKey: ["costs", "initiative"], queryFn: async ({ signal }) => ({ items: await everything((cursor) => client.get("/v1/costs", { query: { by: "initiative", limit: 1000, cursor }, signal })) }) });

export const projectsQuery = (client: Client) =>
  queryOptions({
    queryKey: ["projects", "all"],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/projects", { query: { limit: 200, cursor }, signal })),
  });

/** What happened in an initiative, newest first, a page at a time. */
export const logQuery = (client: Client, ref: string, types: Schema<"EventType">[]) =>
  infiniteQueryOptions({
    queryKey: ["initiatives", "log", ref],
    queryFn: ({ pageParam, signal }) => client.get("/v1/events/log", { query: { initiative: ref, type: types, limit: 100, before: pageParam }, signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.older,
  });
