import { useEffect, useState, type ReactNode } from "react";
import { useNow } from "../lib/clock";
import { useStore } from "../lib/store";
import { clockTime, grouped } from "../lib/words";
import { Icon } from "../ui/Icon";
import { useCw } from "./cw";
import { Lag } from "./lag";
import { say } from "./notices";

/** Says that what is shown may be old. It lies over the head of the page and pushes nothing. */
export function ConnectionBanner() {
  const { live } = useCw();
  const state = useStore(live.state);
  const anew = useStore(live.anew);
  const now = useNow();
  const behind = useBehind(now);
  useEffect(() => {
    if (anew > 0) say("You were away for longer than events are kept. Everything was read anew.");
  }, [anew]);
  if (state.kind === "live" && behind > 0) {
    return (
      <Banner>
        {behind} s behind, at event {grouped(live.seq.get())}. The page is catching up.
      </Banner>
    );
  }
  if (state.kind !== "lost") return null;
  const left = Math.max(1, Math.ceil((state.nextTry - now) / 1000));
  const long = now - state.since > 15_000;
  return (
    <Banner long={long}>
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

function Banner({ long, children }: { long?: boolean; children: ReactNode }) {
  return (
    <div
      role="alert"
      className={`absolute inset-x-0 top-(--bar) z-5 ml-(--side) flex min-h-9 items-center gap-2 border-b border-line px-4 py-1 max-tab:ml-0 ${long ? "bg-fail-bg" : "bg-need-bg"}`}
    >
      <Icon name="s-stalled" className={long ? "text-fail" : "text-need-mark"} />
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
