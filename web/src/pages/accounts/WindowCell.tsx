import { Meter } from "../../ui/Meter";
import type { WindowBar } from "./usage";

/** The windows of one column: the bar is use, the mark is time passed. */
export function WindowCell({ bars, account }: { bars: WindowBar[]; account: string }) {
  return (
    <div className="grid gap-1.5">
      {bars.map((bar) => (
        <div key={bar.title} className="grid gap-0.5 text-12 text-ink-2 tabular-nums">
          <div className="flex justify-between gap-2">
            <span className="whitespace-nowrap">
              {bar.used} % <span className="text-ink-3">{bar.title}</span>
            </span>
            <span className="truncate text-right">{bar.reset}</span>
          </div>
          <Meter label={`${account}, ${bar.title}: ${bar.used} % used`} value={bar.used} mark={bar.passed} tone={bar.tone} />
        </div>
      ))}
    </div>
  );
}
