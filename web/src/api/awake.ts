import { Store } from "../lib/store";

/** Whether somebody may look at this tab. */
export const visible = new Store(document.visibilityState !== "hidden");
document.addEventListener("visibilitychange", () => visible.set(document.visibilityState !== "hidden"));

/**
 * Whether this tab keeps its event stream. A browser has six connections to
 * the daemon for all its tabs together, and a stream holds one as long as it
 * stands: a tab has one while it is visible. One tab of all holds a lock and
 * keeps its stream while it is hidden, too, so that questions are told on the
 * desktop; the lock goes with that tab, and another one has it then. Where
 * there are no locks each tab keeps its stream.
 */
export function keepsEvents(signal: AbortSignal): Store<boolean> {
  const awake = new Store(true);
  const locks = navigator.locks as LockManager | undefined | null;
  if (!locks) return awake;
  let held = false;
  const look = () => awake.set(held || visible.get());
  look();
  signal.addEventListener("abort", visible.subscribe(look));
  const hold = () => {
    held = true;
    look();
    return new Promise<void>((letGo) => signal.addEventListener("abort", () => letGo()));
  };
  void locks.request("cw.live", { signal }, hold).catch(() => undefined); // it ended before its turn came
  return awake;
}
