import { useEffect } from "react";
import { useNow } from "../lib/clock";
import { useStore } from "../lib/store";
import { clockTime } from "../lib/words";
import { Icon } from "../ui/Icon";
import { useCw } from "./cw";
import { say } from "./notices";

/** Says that what is shown may be old. It lies over the head of the page and pushes nothing. */
export function ConnectionBanner() {
  const { live } = useCw();
  const state = useStore(live.state);
  const anew = useStore(live.anew);
  const now = useNow();
  useEffect(() => {
    if (anew > 0) say("You were away for longer than events are kept. Everything was read anew.");
  }, [anew]);
  if (state.kind !== "lost") return null;
  const left = Math.max(1, Math.ceil((state.nextTry - now) / 1000));
  const alarming = state.stranger || now - state.since > 15_000;
  return (
    <div
      role="alert"
      className={`absolute inset-x-0 top-(--bar) z-5 ml-(--side) flex min-h-9 items-center gap-2 border-b border-line px-4 py-1 max-tab:ml-0 ${alarming ? "bg-fail-bg" : "bg-need-bg"}`}
    >
      <Icon name="s-stalled" className={alarming ? "text-fail" : "text-need-mark"} />
      {state.stranger ? (
        <span>
          Another program answers at this address, not the daemon. Nothing was sent to it. <code>cw open</code> shows the dashboard where the daemon is. Agents go on working.
        </span>
      ) : (
        <span>
          Connection lost {clockTime(new Date(state.since).toISOString())}. Trying again in {left} s. Agents go on working.
          {alarming && (
            <>
              {" "}
              If the daemon has ended, <code>cw serve</code> starts it.
            </>
          )}
        </span>
      )}
    </div>
  );
}
