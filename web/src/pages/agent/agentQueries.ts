import { queryOptions, type QueryClient } from "@tanstack/react-query";
import type { Client, Schema } from "../../api/client";
import { statQuery } from "../../diff/diffQueries";

/** The newest texts to an agent and its final words, oldest first. */
export const messagesQuery = (client: Client, id: string) =>
  queryOptions({
    queryKey: ["messages", id],
    queryFn: async ({ signal }) => {
      const page = await client.get("/v1/agents/{id}/messages", { path: { id }, query: { limit: 200, sort: "-createdAt" }, signal });
      return (page.items ?? []).toReversed();
    },
  });

/** What an agent asked people, newest first. */
export const questionsQuery = (client: Client, agent: string) =>
  queryOptions({
    queryKey: ["questions", agent],
    queryFn: async ({ signal }) => (await client.get("/v1/questions", { query: { agent, limit: 200, sort: "-createdAt" }, signal })).items ?? [],
  });

/** How large an agent's work is, file by file. */
export const workQuery = (client: Client, id: string, project: string) => ({ ...statQuery(client, { noun: "agent", ref: id, project }), retry: false });

/** The files of all its projects that are not committed this moment; none where that cannot be read. */
export async function uncommittedNow(client: Client, queries: QueryClient, agent: Schema<"AgentView">): Promise<string[]> {
  const reads = (agent.projects ?? []).map(({ project }) => queries.fetchQuery({ ...workQuery(client, agent.id, project), staleTime: 0 }));
  const read = await Promise.allSettled(reads);
  return read.flatMap((one) => (one.status === "fulfilled" ? (one.value.uncommitted ?? []) : []));
}

export const tasksQuery = (client: Client, initiative: string) =>
  queryOptions({
    queryKey: ["tasks", "of", initiative],
    queryFn: async ({ signal }) => (await client.get("/v1/tasks", { query: { initiative }, signal })).items ?? [],
  });

/** What an agent asked others, and what they asked it. */
export const talksQuery = (client: Client, agent: string) =>
  queryOptions({
    queryKey: ["conversations", "of", agent],
    queryFn: async ({ signal }) => (await client.get("/v1/conversations", { query: { agent, limit: 20, sort: "-createdAt" }, signal })).items ?? [],
  });
