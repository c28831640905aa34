import { firstLine } from "../../../lib/firstLine";
import { clockTime, count, inert, spanInWords } from "../../../lib/words";
import type { TroubleItem } from "../items";
import { Box } from "./Box";
import type { ItemProps } from "./ItemRow";
import { Line } from "./Line";

const buckets: Record<string, string> = { tool: "Tool failed", transient: "Transient error", limit: "Usage limit", auth: "Credentials refused", abort: "Interrupted" };

/** What went wrong, or may. */
export function TroubleBox({ item }: ItemProps<TroubleItem>) {
  const { tone, mark, icon, title } = lookOf(item);
  const text = inert(item.text).trim();
  const line = firstLine(text);
  const more = text.length > line.length && text.includes("\n");
  const head = (
    <>
      <b className="flex-none font-mid text-ink">{title}</b>
      <span className="min-w-0 flex-1 break-words text-ink">{more ? line : text}</span>
      {item.what === "retry" && <span className="flex-none text-ink-2 tabular-nums">{triesOf(item)}</span>}
      {item.at !== "" && <span className="flex-none text-ink-2 tabular-nums">{clockTime(item.at)}</span>}
    </>
  );
  return (
    <Line at={item.at} icon={icon} tone={mark} look="box">
      <Box tone={tone} head={head}>
        {more ? <pre tabIndex={0} className="overflow-x-auto px-3 py-2 text-12 whitespace-pre-wrap">{text}</pre> : null}
      </Box>
    </Line>
  );
}

function triesOf(item: TroubleItem): string {
  const took = Date.parse(item.until) - Date.parse(item.at);
  return `tried again ${count(item.times, "time")}${took >= 1000 ? ` in ${spanInWords(took)}` : ""}`;
}

function lookOf(item: TroubleItem): { tone: "need" | "fail" | "held"; mark: string; icon: string; title: string } {
  switch (item.what) {
    case "retry":
      return { tone: "need", mark: "text-work", icon: "s-retrying", title: "Tried again" };
    case "warning":
      return { tone: "need", mark: "text-need-mark", icon: "s-stalled", title: "Warning" };
    case "near":
      return { tone: "held", mark: "text-held", icon: "s-limit", title: "Near its limit" };
    case "limit":
      return { tone: "held", mark: "text-held", icon: "s-limit", title: "Usage limit" };
    case "error":
      return { tone: "fail", mark: "text-fail", icon: "s-error", title: buckets[item.bucket] ?? "Error" };
  }
}
