import { cx } from "../lib/cx";
import { inert } from "../lib/words";
import type { Change, Painted } from "./paint";
import type { Ink } from "./syntax";

const inks: Record<Exclude<Ink, null>, string> = { kw: "text-syn-kw", str: "text-syn-str", fn: "text-syn-fn", com: "text-syn-com" };

/** The text of a line, in its inks, with the words marked that changed. */
export function CodeLine({ painted }: { painted: Painted<Change & { open?: boolean }> }) {
  const hi = painted.line.kind === "add" ? "bg-add-hi" : "bg-del-hi";
  return (
    <>
      {painted.segments.map((one, i) => {
        // The grey of comments cannot be read on the ground of a changed word.
        const ink = one.ink === null || (one.marked && one.ink === "com") ? "" : inks[one.ink];
        if (one.marked) return <mark key={i} className={cx("rounded-[2px]", ink === "" && "text-inherit", hi, ink)}>{inert(one.text)}</mark>;
        return ink === "" ? inert(one.text) : <span key={i} className={ink}>{inert(one.text)}</span>;
      })}
      {painted.line.open && <span className="text-ink-3" title="No newline at the end of the file"> ⏎̸</span>}
    </>
  );
}
