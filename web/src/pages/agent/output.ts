import type { Client, Request, Schema } from "../../api/client";

/** A parsed piece of an agent's output. */
export type OutputEvent = Schema<"OutputEvent">;

/** A piece of an agent's output, oldest first. */
export type OutputPage = Schema<"OutputPage">;

/** Which piece is asked for. */
export type PageQuery = NonNullable<Request<"get", "/v1/agents/{id}/output/page">["query"]>;

/** Reads a piece of an agent's output: the last one, or the one beside a place. */
export const readPage = (client: Client, id: string, query: PageQuery, signal: AbortSignal): Promise<OutputPage> =>
  client.get("/v1/agents/{id}/output/page", { path: { id }, query, signal });

/** Puts places "<session>:<offset>:<n>" in the order of the output. What is left out is before all. */
export function comparePlaces(a: string, b: string): number {
  const left = a.split(":");
  const right = b.split(":");
  for (let i = 0; i < 3; i++) {
    const order = Number(left[i] ?? -1) - Number(right[i] ?? -1);
    if (order !== 0) return order;
  }
  return 0;
}

/** The run that a place is in. */
export function sessionOf(place: string): number {
  return Number(place.split(":")[0]);
}
