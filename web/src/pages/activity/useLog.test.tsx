import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/preact";
import { expect, it } from "vitest";
import { Client } from "../../api/client";
import { Live, type CwEvent } from "../../api/live";
import { Session } from "../../api/session";
import { CwProvider } from "../../app/cw";
import type { Filter } from "./groups";
import { useLog } from "./useLog";

/** A live stream whose events come when the test says so. */
class Stage extends Live {
  private readonly told = new Set<(event: CwEvent) => void>();
  override watch = (watcher: (event: CwEvent) => void) => {
    this.told.add(watcher);
    return () => this.told.delete(watcher);
  };
  tell = (event: Partial<CwEvent>) => act(() => this.told.forEach((watcher) => watcher({ at: "2026-11-21T12:00:00Z", type: "agent:running", ...event })));
}

it("holds back what comes until it is asked for, and only what the filter lets through", async () => {
  const client = new Client(new Session(localStorage));
  client.get = (() => Promise.resolve({ items: [{ seq: 2, type: "agent:running" }, { seq: 1, type: "agent:running" }] })) as unknown as Client["get"];
  const queries = new QueryClient();
  const live = new Stage(client, queries);
  const wrapper = ({ children }: { children: preact.ComponentChildren }) => (
    <QueryClientProvider client={queries}>
      <CwProvider cw={{ client, queries, live }}>{children as never}</CwProvider>
    </QueryClientProvider>
  );
  const { result, rerender } = renderHook((filter: Filter) => useLog(filter), { wrapper: wrapper as never, initialProps: { agent: "a" } });
  await waitFor(() => expect(result.current.events).toHaveLength(2));

  live.tell({ seq: 3, agentId: "a" });
  live.tell({ seq: 4, agentId: "b" });
  live.tell({ agentId: "a" });
  expect(result.current.fresh).toBe(1);
  expect(result.current.events.map((one) => one.seq)).toEqual([2, 1]);

  act(() => result.current.showFresh());
  expect(result.current.fresh).toBe(0);
  expect(result.current.events.map((one) => one.seq)).toEqual([3, 2, 1]);

  rerender({ agent: "b" });
  await waitFor(() => expect(result.current.events.map((one) => one.seq)).toEqual([2, 1]));
});
