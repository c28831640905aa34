import { Store, useStore } from "./store";

/** The time, a second at a time: figures change at most once a second, all together. */
export const clock = new Store(Date.now());

/** Keeps the clock going until the signal ends it. */
export function runClock(signal: AbortSignal): void {
  const timer = setInterval(() => clock.set(Date.now()), 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Now, in milliseconds; anew each second. */
export function useNow(): number {
  return useStore(clock);
}
