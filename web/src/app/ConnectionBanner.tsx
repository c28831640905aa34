import { useEffect, useState, type ReactNode } from "react";
import { wordsOf } from "../api/problem";
import { useNow } from "../lib/clock";
import { useStore } from "../lib/store";
import { clockTime, grouped } from "../lib/words";
import { Icon } from "../ui/Icon";
import { useCw } from "./cw";
import { Lag } from "./lag";

/** Says that what is shown may be old. Seconds that count are not read aloud again and again. */
export function ConnectionBanner() {
  const { live } = useCw();
  const state = useStore(live.state);
  const now = useNow();
  const behind = useBehind(now);
  if (state.kind === "ended" && state.why) {
    return <Banner bad>What is shown is no longer kept up to date ({wordsOf(state.why)}). Reload the page to try again.</Banner>;
  }
  if (state.kind === "live" && behind > 0) {
    return (
      <Banner>
        <span aria-hidden="true">{behind} s behind, at event {grouped(live.seq.get())}. </span>The page is catching up.
      </Banner>
    );
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
      Connection lost {clockTime(new Date(state.since).toISOString())}. <span aria-hidden="true">Trying again in {left} s. </span>Agents go on working.
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
function Banner({ bad = false, children }: { bad?: boolean; children: ReactNode }) {
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

/** How many seconds the page is behind the daemon, by the daemon's clock. */
function useBehind(now: number): number {
  const { client, live } = useCw();
  const [lag] = useState(() => new Lag());
  useEffect(() => live.watch((event) => lag.note(Date.parse(event.at), Date.now() + client.clockAhead)), [client, live, lag]);
  return lag.seconds(now + client.clockAhead);
}
