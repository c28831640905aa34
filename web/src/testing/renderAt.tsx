import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { act, render, waitFor } from "@testing-library/preact";
import type { ReactNode } from "react";
import { layers, runKeys } from "../app/keys";
import { CwProvider, type Cw } from "../app/cw";

/** Renders a part of the page Now as the whole page, with keys and an address. */
export function renderAt(cw: Cw, part: ReactNode, address = "/") {
  const root = createRootRoute();
  const now = createRoute({ getParentRoute: () => root, path: "/", validateSearch: (search: Record<string, unknown>) => search, component: () => <main id="main"><div data-flow>{part}</div></main> });
  const agent = createRoute({ getParentRoute: () => root, path: "/agents/$name", component: () => <p>the page of an agent</p> });
  const router = createRouter({ routeTree: root.addChildren([now, agent]), history: createMemoryHistory({ initialEntries: [address] }) });
  const end = new AbortController();
  runKeys(end.signal);
  const view = render(
    <QueryClientProvider client={cw.queries}>
      <CwProvider cw={cw}>
        <RouterProvider router={router as never} />
      </CwProvider>
    </QueryClientProvider>,
  );
  return { ...view, router, end: () => end.abort() };
}

/** Presses keys one after the other, where the focus is, once there are keys. */
export async function press(...keys: string[]): Promise<void> {
  await waitFor(() => {
    if (layers.get().length === 0) throw new Error("there are no keys yet");
  });
  for (const key of keys) {
    await act(() => void (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
  }
}
