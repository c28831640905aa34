import { useCallback, useMemo, useState } from "react";

/** What is folded and what is open. */
export interface Folds {
  /** Whether one is open that opens by itself, or does not. */
  isOpen: (key: string, byItself: boolean) => boolean;
  set: (key: string, open: boolean) => void;
  /** Everything is folded, until something is opened by hand. */
  allFolded: boolean;
  toggleAll: () => void;
}

/** What a person opened and folded stays so, also when it was out of sight. */
export function useFolds(): Folds {
  const [state, setState] = useState({ all: false, own: new Map<string, boolean>() });
  const set = useCallback((key: string, open: boolean) => {
    setState((now) => ({ all: now.all, own: new Map(now.own).set(key, open) }));
  }, []);
  const toggleAll = useCallback(() => setState((now) => ({ all: !now.all, own: new Map() })), []);
  return useMemo(
    () => ({ isOpen: (key, byItself) => state.own.get(key) ?? (byItself && !state.all), set, allFolded: state.all, toggleAll }),
    [state, set, toggleAll],
  );
}
