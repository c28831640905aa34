import { address, type Client, type Schema } from "../../api/client";

/** A parsed piece of an agent's output. */
export type OutputEvent = Schema<"OutputEvent"> & {
  /** When its line was stored. */
  at?: string;
};

/** A run, as the border between pieces of output. */
export interface OutputRun {
  session: number;
  reason: string;
  startedAt?: string;
  endedAt?: string;
  outcome?: string;
}

/** A piece of an agent's output, oldest first. */
export interface OutputPage {
  items: OutputEvent[];
  /** Where the next older page ends; missing when there is nothing older. */
  older?: string;
  /** Where the next newer page begins. */
  newer?: string;
  /** After which chunk the stream goes on; there when the page reaches the end. */
  stream?: number;
  runs: OutputRun[];
}

export interface PageQuery {
  before?: string | undefined;
  after?: string | undefined;
  limit?: number;
  contains?: string;
}

/** Reads a piece of an agent's output: the last one, or the one beside a place. */
export async function readPage(client: Client, id: string, query: PageQuery, signal: AbortSignal): Promise<OutputPage> {
  const response = await client.open(address("/v1/agents/{id}/output/page", { id }, query), { signal });
  return (await response.json()) as OutputPage;
}

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
