import { act, render, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { CwEvent } from "../api/live";
import { Problem } from "../api/problem";
import { clock } from "../lib/clock";
import { cwWith } from "../testing/fakes";
import { renderAt } from "../testing/renderAt";
import { ConnectionBanner } from "./ConnectionBanner";
import { CwProvider } from "./cw";

test("a stream that was refused for good is told, with the reason", () => {
  const { cw } = cwWith({});
  cw.live.state.set({ kind: "ended", why: new Problem(403, "forbidden", "the token may not do this", "it needs the scope operate") });
  render(<CwProvider cw={cw}><ConnectionBanner /></CwProvider>);
  expect(screen.getByRole("alert").textContent).toContain("no longer kept up to date (the token may not do this");
});

test("while the stream stands nothing is said", () => {
  const { cw } = cwWith({});
  cw.live.state.set({ kind: "live" });
  render(<CwProvider cw={cw}><ConnectionBanner /></CwProvider>);
  expect(screen.queryByRole("alert")).toBeNull();
});

test("events that stay old are told as being behind, by the daemon's clock, until one is new", async () => {
  const { cw } = cwWith({});
  const watchers: ((event: CwEvent) => void)[] = [];
  cw.live.watch = (watcher) => {
    watchers.push(watcher);
    return () => undefined;
  };
  cw.live.state.set({ kind: "live" });
  cw.live.seq.set(4711);
  cw.client.clockAhead = 60_000;
  const view = renderAt(cw, <ConnectionBanner />);
  await waitFor(() => expect(watchers).toHaveLength(1));
  const come = (age: number, after: number) => act(() => {
    const now = Date.now();
    watchers[0]?.({ seq: 4711, type: "agent:said", at: new Date(now + 60_000 - age).toISOString() } as unknown as CwEvent);
    clock.set(now + after);
  });
  await come(12_000, 100); // one, which may be the last that is
  expect(screen.queryByRole("alert")).toBeNull();
  await come(12_000, 1500);
  expect(screen.getByRole("alert").textContent).toBe("12 s behind, at event 4,711. The page is catching up.");
  await come(20, 1600);
  expect(screen.queryByRole("alert")).toBeNull();
  view.end();
});
