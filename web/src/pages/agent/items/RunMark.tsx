import type { Schema } from "../../../api/client";
import { clockTime, exactTime } from "../../../lib/words";
import { reasonWords } from "../runWords";

/** The border between two runs. */
export function RunMark({ run, account }: { run: Schema<"Run">; account: string }) {
  const at = run.startedAt ?? run.createdAt;
  return (
    <div className="mt-3 mb-2 flex items-center gap-3 overflow-hidden text-12 whitespace-nowrap text-ink-3">
      <span className="h-px w-19 flex-none bg-line max-tab:hidden" />
      <b className="font-mid text-ink">Run {run.sessionNumber}</b>
      <span className="truncate">{reasonWords(run.reason)}{run.freshSession ? ", in a fresh session" : ""}</span>
      <time dateTime={at} title={exactTime(at)} className="max-tab:hidden">{clockTime(at)}</time>
      {account !== "" && <span className="truncate max-tab:hidden">{account}</span>}
      <span className="h-px flex-1 bg-line" />
    </div>
  );
}
