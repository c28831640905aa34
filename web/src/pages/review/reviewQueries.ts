import { queryOptions } from "@tanstack/react-query";
import type { Client, Schema } from "../../api/client";
import { parsePatch, type FilePatch } from "./diff/patch";

/** What can be looked at. */
export type Noun = "agent" | "task" | "initiative";

export function isNoun(text: string): text is Noun {
  return text === "agent" || text === "task" || text === "initiative";
}

interface DiffAsked {
  noun: Noun;
  ref: string;
  /** "": the only one. */
  project: string;
}

interface Query {
  stat?: boolean;
  path?: string[];
  project?: string;
}

/** Asks for a diff of any noun. Several paths cannot be asked for by this client. */
function read(client: Client, asked: DiffAsked, query: Query, signal: AbortSignal): Promise<Schema<"Diff">> {
  const full = { ...query, ...(asked.project === "" ? {} : { project: asked.project }) };
  switch (asked.noun) {
    case "agent":
      return client.get("/v1/agents/{id}/diff", { path: { id: asked.ref }, query: full, signal });
    case "task":
      return client.get("/v1/tasks/{task}/diff", { path: { task: asked.ref }, query: full, signal });
    case "initiative":
      return client.get("/v1/initiatives/{initiative}/diff", { path: { initiative: asked.ref }, query: full, signal });
  }
}

/** The files and their sizes, without a line. */
export const statQuery = (client: Client, asked: DiffAsked) =>
  queryOptions({ queryKey: ["diff", asked.noun, asked.ref, asked.project, "stat"], queryFn: ({ signal }) => read(client, asked, { stat: true }, signal) });

/** The lines of one file as of a commit: they never change, so events do not make them old. */
export const fileQuery = (client: Client, asked: DiffAsked, path: string, head: string) =>
  queryOptions({
    queryKey: ["file-diff", asked.noun, asked.ref, asked.project, path, head],
    queryFn: async ({ signal }): Promise<FilePatch | null> => {
      const files = parsePatch((await read(client, asked, { path: [path] }, signal)).patch ?? "");
      return files.find((file) => file.path === path) ?? files[0] ?? null;
    },
    gcTime: 60_000,
  });

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
