import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";
import { runKeys } from "./keys";
import { router } from "./router";
import { CwProvider, type Cw } from "./cw";
import { runClock } from "../lib/clock";

// Who has a session never needs it.
const SignIn = lazy(() => import("./SignIn").then((file) => ({ default: file.SignIn })));

/** The dashboard of a browser that has a session, else how to get one. */
export function App({ cw, signInError }: { cw: Cw; signInError: unknown }) {
  const token = useSyncExternalStore(cw.client.session.subscribe, () => cw.client.session.token);
  useEffect(() => {
    if (token === null) return cw.queries.clear(); // what was read was this session's to see
    const end = new AbortController();
    runKeys(end.signal);
    runClock(end.signal);
    void cw.live.run(end.signal);
    return () => end.abort();
  }, [cw, token]);
  if (token === null) return <Suspense fallback={null}><SignIn error={signInError} /></Suspense>;
  return (
    <QueryClientProvider client={cw.queries}>
      <CwProvider cw={cw}>
        <RouterProvider router={router} />
      </CwProvider>
    </QueryClientProvider>
  );
}
