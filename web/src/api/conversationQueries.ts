import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Client, Schema } from "./client";

export type Conversation = Schema<"ConversationView">;

const PAGE = 100;

/** Questions of agents to each other, newest first, page by page; only those that wait for an answer when asked so. */
export const conversationsQuery = (client: Client, open: boolean) =>
  infiniteQueryOptions({
    queryKey: ["conversations", "list", open],
    queryFn: ({ pageParam, signal }) =>
      client.get("/v1/conversations", { query: { limit: PAGE, cursor: pageParam === "" ? undefined : pageParam, status: open ? ["pending"] : undefined }, signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next || undefined,
  });

export const conversationQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: ["conversations", "one", id], queryFn: ({ signal }) => client.get("/v1/conversations/{conversation}", { path: { conversation: id }, signal }) });
