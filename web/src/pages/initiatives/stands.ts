import type { Dispatch } from "../../api/initiativeQueries";

export interface Stands {
  /** Tasks at which an agent works now. */
  work: number;
  /** Tasks that wait, for whatever it is. */
  waiting: number;
  /** Those of them that wait for a person. */
  person: number;
  /** "can be landed", or empty. */
  landing: string;
}

/** How an initiative stands, as the dispatcher tells. */
export function standsAt(id: string, dispatch: Dispatch | undefined): Stands {
  const waiting = (dispatch?.waiting ?? []).filter((task) => task.initiativeId === id);
  const asks = (dispatch?.running ?? []).filter((task) => task.initiativeId === id && task.agentStatus === "waiting_for_input");
  return {
    work: (dispatch?.running ?? []).filter((task) => task.initiativeId === id && task.agentStatus === "running").length,
    waiting: waiting.length,
    person: waiting.filter((task) => task.wait?.code === "person").length + asks.length,
    landing: dispatch?.landing?.some((one) => one.id === id) ? "can be landed" : "",
  };
}
