import type { Schema } from "../../api/client";

/** Why a run was started, in words. */
export function reasonWords(reason: string): string {
  const words: Record<string, string> = {
    spawn: "started", answers: "resumed with your answers", missing_signal: "asked for its signal", files: "asked to correct its files", commit: "asked to commit",
    follow_up: "resumed with a text", stalled: "resumed after silence", reboot: "resumed after a restart of the machine", failover: "went on with another account",
    wake: "woken by a question", conflict: "resumed to solve a conflict", check_red: "resumed to mend a check", review: "resumed with remarks", budget: "asked to commit: the budget is spent",
  };
  return words[reason] ?? reason;
}

/** What became of a run, in words; "" while it runs. */
export function outcomeWords(run: Pick<Schema<"Run">, "outcome" | "outcomeReason">): string {
  switch (run.outcome) {
    case undefined:
      return "";
    case "idle":
      return "done";
    case "waiting_for_input":
      return "ended with questions";
    case "parked":
      return "parked";
    case "crashed":
      return run.outcomeReason ? `crashed: ${run.outcomeReason.replaceAll("_", " ")}` : "crashed";
    case "stopped":
      return "stopped";
  }
  return run.outcome ?? "";
}
