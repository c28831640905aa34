import { queryOptions } from "@tanstack/react-query";
import type { Client } from "../../api/client";

/** The merges of an initiative, oldest first. */
export const mergesQuery = (client: Client, initiative: string) =>
  queryOptions({
    queryKey: ["merges", initiative],
    queryFn: async ({ signal }) => (await client.get("/v1/initiatives/{initiative}/merges", { path: { initiative }, signal })).items ?? [],
  });

/** What landing would do, without doing it. */
export const landingQuery = (client: Client, initiative: string, unfinished: boolean) =>
  queryOptions({
    queryKey: ["initiatives", "landing", initiative, unfinished],
    queryFn: async () => (await client.post("/v1/initiatives/{initiative}/land", { path: { initiative }, body: { dryRun: true, unfinished } })).items ?? [],
    retry: false,
  });
