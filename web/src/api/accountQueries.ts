import { queryOptions } from "@tanstack/react-query";
import { zone } from "../lib/days";
import type { Client, Schema } from "./client";
import { everything } from "./queries";

/*
 * What the page of accounts reads. The first word of a key is a noun of
 * touched.ts.
 */

export type AccountView = Schema<"AccountView">;
export type UsageWindow = Schema<"UsageWindow">;
export type Budget = Schema<"Budget">;
export type CostRow = Schema<"CostRow">;

export const accountsQuery = (client: Client) =>
  queryOptions({ queryKey: ["accounts", "all"], queryFn: async ({ signal }) => (await client.get("/v1/accounts", { signal })).items ?? [] });

export const budgetsQuery = (client: Client) =>
  queryOptions({ queryKey: ["budgets"], queryFn: async ({ signal }) => (await client.get("/v1/budgets", { signal })).items ?? [] });

/** What each account cost on each day since then: days are those of this browser. */
export const costsByDayQuery = (client: Client, since: string) =>
  queryOptions({
    queryKey: ["costs", "day", "account", since],
    queryFn: ({ signal }) => everything((cursor) => client.get("/v1/costs", { query: { by: "day", then: "account", since, zone, limit: 1000, cursor }, signal })),
  });
