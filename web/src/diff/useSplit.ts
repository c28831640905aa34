import { useState, useSyncExternalStore } from "react";

/** From here on two columns can be read. */
const WIDE = "(min-width: 1100px)";
const KEY = "cw.diff";

/** Whether a diff is read side by side: as the person said last, and only where there is room. */
export function useSplit(): [boolean, (split: boolean) => void] {
  const wide = useSyncExternalStore(
    (changed) => {
      const media = matchMedia(WIDE);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => matchMedia(WIDE).matches,
  );
  const [kept, setKept] = useState(localStorage.getItem(KEY));
  const choose = (split: boolean) => {
    localStorage.setItem(KEY, split ? "split" : "unified");
    setKept(split ? "split" : "unified");
  };
  return [kept === null ? wide : kept === "split" && matchMedia("(min-width: 721px)").matches, choose];
}
