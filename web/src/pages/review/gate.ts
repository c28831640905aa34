import type { Schema } from "../../api/client";
import { count, grouped } from "../../lib/words";

type Task = Schema<"Task">;
type Merge = Schema<"Merge">;
type Landing = Schema<"Landing">;

/** What stands above a task's diff, and what may be done about it. */
export interface TaskGate {
  /** What happens, and what does not. */
  text: string;
  acts: ("accept" | "reject" | "retry")[];
}

/** What becomes of a task's work, and what a person can do about it. */
export function taskGate(task: Task, merge: Merge | undefined, branch: string): TaskGate {
  const safe = "Your branches and your checkout stay as they are.";
  if (merge?.status === "merged") return { text: `Merged onto ${branch}. ${safe}`, acts: [] };
  if (merge?.verify && merge.verifiedBy === undefined && (merge.status === "queued" || merge.status === "checking")) {
    return {
      text: `It waits for your look. Accepting puts it into the queue: the checks run on the merged commit, and only then ${branch} moves. ${safe}`,
      acts: ["reject", "accept"],
    };
  }
  switch (merge?.status) {
    case "queued":
      return { text: `In the queue for ${branch}${merge.wait ? `: ${merge.wait}` : ""}. The checks run on the merged commit, and only then the branch moves. ${safe}`, acts: [] };
    case "checking":
      return { text: `The checks run on the merged commit. When they are green, ${branch} moves. ${safe}`, acts: [] };
    case "conflicted":
      return { text: `It conflicts with ${branch}, ${count(merge.conflicts, "time")} so far. ${branch} did not move.`, acts: retryOf(task) };
    case "red":
      return { text: `The checks are red on the merged commit. ${branch} did not move.`, acts: retryOf(task) };
    case "dismissed":
      return { text: `This work was set aside. ${branch} did not move.`, acts: retryOf(task) };
  }
  if (task.status === "blocked") return { text: task.blocked ?? "It is blocked.", acts: ["retry"] };
  return { text: `Not finished. When the task is done, its work is checked and merged onto ${branch}. ${safe}`, acts: [] };
}

function retryOf(task: Task): TaskGate["acts"] {
  return task.status === "blocked" ? ["retry"] : [];
}

/** What landing does, project by project, in one sentence each. */
export function landingText(one: Landing): string {
  const where = `${one.into} of ${one.project}`;
  if (one.how === "up-to-date") return `${where} has everything already.`;
  const what = `${count(one.commits, "commit")}, ${count(one.stat.filesChanged, "file")}`;
  const how = one.how === "merge" ? "with a merge commit" : "as a fast-forward";
  const checkout = one.checkout ? ` The files in ${one.checkout} change with it.` : " Your checkout stays as it is.";
  return `Landing puts ${what} of ${one.branch} onto ${where}, ${how}.${checkout} Nothing is pushed.`;
}

/** "4 commits, 8 files, +312 −48". */
export function sizeText(diff: Schema<"Diff">): string {
  return `${count((diff.commits ?? []).length, "commit")}, ${count(diff.stat.filesChanged, "file")}, +${grouped(diff.stat.additions)} −${grouped(diff.stat.deletions)}`;
}
