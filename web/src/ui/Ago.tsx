import { useNow } from "../lib/clock";
import { exactTime, span } from "../lib/words";

/** How long ago, in place; the exact time on hover. */
export function Ago({ at, className }: { at: string; className?: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className={className}>
      {span(now - Date.parse(at))}
    </time>
  );
}
