import { useEffect, useState } from "react";
import { useCw } from "../../app/cw";
import { useStore } from "../../lib/store";
import { Autosave, type Keeper } from "./autosave";

/**
 * The autosave of one page for as long as it is shown. Leaving the page stores
 * what is not stored; a connection that is back does, too.
 */
export function useAutosave<T>(revision: number, keeper: () => Keeper<T>, key: string): { autosave: Autosave<T>; takenUp: T | null } {
  const { live } = useCw();
  const [save] = useState(() => {
    const autosave = new Autosave<T>(revision, keeper(), sessionStorage, key);
    return { autosave, takenUp: autosave.takeUp() };
  });
  const connection = useStore(live.state).kind;
  useEffect(() => {
    if (connection === "live" && save.autosave.state.get().kind === "kept") void save.autosave.flush();
  }, [connection, save]);
  useEffect(() => () => void save.autosave.flush(), [save]);
  return save;
}
