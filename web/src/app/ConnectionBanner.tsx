import type { ReactNode } from "react";
import { wordsOf } from "../api/problem";
import { useNow } from "../lib/clock";
import { useStore } from "../lib/store";
import { clockTime } from "../lib/words";
import { Icon } from "../ui/Icon";
import { useCw } from "./cw";

/** Says that what is shown may be old. */
export function ConnectionBanner() {
  const state = useStore(useCw().live.state);
  const now = useNow();
  if (state.kind === "ended" && state.why) {
    return <Banner bad>What is shown is no longer kept up to date ({wordsOf(state.why)}). Reload the page to try again.</Banner>;
  }
  if (state.kind !== "lost") return null;
  if (state.stranger) {
    return (
      <Banner bad>
        Another program answers at this address, not the daemon. Nothing was sent to it. <code>cw open</code> shows the dashboard where the daemon is. Agents go on working.
      </Banner>
    );
  }
  const left = Math.max(1, Math.ceil((state.nextTry - now) / 1000));
  const long = now - state.since > 15_000;
  return (
    <Banner bad={long}>
      Connection lost {clockTime(new Date(state.since).toISOString())}. Trying again in {left} s. Agents go on working.
      {long && (
        <>
          {" "}
          If the daemon has ended, <code>cw serve</code> starts it.
        </>
      )}
    </Banner>
  );
}

/** Lies over the head of the page and pushes nothing. */
function Banner({ bad, children }: { bad: boolean; children: ReactNode }) {
  return (
    <div
      role="alert"
      className={`absolute inset-x-0 top-(--bar) z-5 ml-(--side) flex min-h-9 items-center gap-2 border-b border-line px-4 py-1 max-tab:ml-0 ${bad ? "bg-fail-bg" : "bg-need-bg"}`}
    >
      <Icon name="s-stalled" className={bad ? "text-fail" : "text-need-mark"} />
      <span>{children}</span>
    </div>
  );
}
