import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query holds, and a new look when that changes. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

/** Whether the screen is a phone's: the breakpoint of tokens.css. */
export function usePhone(): boolean {
  return useMedia("(max-width: 45rem)");
}
