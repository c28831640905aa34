import { useEffect, useReducer, useRef } from "react";
import { LINGER, nothingYet, steady, type Steady } from "./steady";
import type { Agent } from "./rows";

/** What is looked at; asked whenever rows change. */
export interface Eyes {
  anchors: () => string[];
  pointed: () => boolean;
}

/** The rows to show of those that fit now. A change of the filter begins anew. */
export function useSteady(wanted: Agent[], filter: string, eyes: Eyes): Steady<Agent> & { admit: () => void } {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const kept = useRef<{ filter: string; state: Steady<Agent> }>({ filter, state: nothingYet });
  const admits = useRef(false);
  const before = kept.current.filter === filter ? kept.current.state : nothingYet;
  const anchors = admits.current ? [] : eyes.anchors();
  admits.current = false;
  const state = steady<Agent>(before, wanted, { anchors, pointed: eyes.pointed(), now: Date.now() });
  kept.current = { filter, state };
  const lingers = state.leaving.size > 0;
  useEffect(() => {
    if (!lingers) return;
    const timer = setInterval(again, LINGER / 3);
    return () => clearInterval(timer);
  }, [lingers]);
  return {
    ...state,
    admit: () => {
      admits.current = true;
      again();
    },
  };
}
