import type { QueryClient } from "@tanstack/react-query";
import { createContext, useContext, type ReactNode } from "react";
import type { Client } from "../api/client";
import type { Live } from "../api/live";

/** What every part of the dashboard may use. */
export interface Cw {
  client: Client;
  live: Live;
  queries: QueryClient;
}

const Context = createContext<Cw | null>(null);

export function CwProvider({ cw, children }: { cw: Cw; children: ReactNode }) {
  return <Context.Provider value={cw}>{children}</Context.Provider>;
}

/** The client and the live stream. */
export function useCw(): Cw {
  const cw = useContext(Context);
  if (!cw) throw new Error("useCw outside of CwProvider");
  return cw;
}
