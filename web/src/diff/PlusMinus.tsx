import { grouped } from "../lib/words";

/** "+38 −14". */
export function PlusMinus({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className="whitespace-nowrap tabular-nums">
      <span className={additions > 0 ? "text-done" : "text-ink-3"}>+{grouped(additions)}</span>{" "}
      <span className={deletions > 0 ? "text-fail" : "text-ink-3"}>−{grouped(deletions)}</span>
    </span>
  );
}
