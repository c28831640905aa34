import { useQuery } from "@tanstack/react-query";
import { dispatchQuery, statusQuery } from "../api/queries";
import { useStore } from "../lib/store";
import { bytes, grouped } from "../lib/words";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { useCw } from "./cw";
import { useHints } from "./keys";

const states = {
  connecting: { icon: "s-starting", tone: "text-work", word: "Connecting" },
  live: { icon: "s-idle", tone: "text-done", word: "Live" },
  resting: { icon: "s-starting", tone: "text-work", word: "Resting" },
  lost: { icon: "s-stalled", tone: "text-need-mark", word: "Connection lost" },
  ended: { icon: "s-error", tone: "text-fail", word: "Not live" },
};

/** The connection and the machine on the left, the keys of the page on the right. */
export function StatusBar() {
  const { client, live } = useCw();
  const state = states[useStore(live.state).kind];
  const seq = useStore(live.seq);
  const status = useQuery(statusQuery(client)).data;
  const dispatch = useQuery(dispatchQuery(client)).data;
  const hints = useHints().slice(0, 7);
  return (
    <footer className="col-span-2 flex items-center gap-4 overflow-hidden border-t border-line px-4 text-12 whitespace-nowrap text-ink-2 tabular-nums max-tab:hidden">
      <span className="inline-flex items-center gap-1.5">
        <Icon name={state.icon} small className={state.tone} />
        {state.word}
      </span>
      {seq > 0 && <span>event {grouped(seq)}</span>}
      {dispatch && status && <span>{status.agentsAlive} of {dispatch.limits.machine} slots</span>}
      {!!status?.memoryPercent && <span>memory {status.memoryPercent} %</span>}
      {status && <span>disk {bytes(status.freeBytes)} free</span>}
      <span className="ml-auto flex gap-3">
        {hints.map((key) => (
          <span key={key.key} className="inline-flex items-center gap-1">
            <Kbd keys={key.key} />
            {key.does}
          </span>
        ))}
      </span>
    </footer>
  );
}
