import type { Schema } from "../../api/client";
import { markOf, ring, type Mark } from "../../ui/status";

/** The mark of an initiative: how far its tasks are. */
export function initiativeMark(status: string, { done, tasks }: Schema<"Progress">): Mark {
  if (status !== "active") return markOf("phase", status);
  if (tasks === 0) return { ...markOf("phase", "draft"), word: "No tasks yet" };
  if (done === tasks) return { ...markOf("phase", "done"), word: "All merged" };
  return { ...markOf("phase", "running"), icon: ring(done, tasks), word: mergedOf({ done, tasks }) };
}

/** "14 of 26 merged". */
export function mergedOf({ done, tasks }: Schema<"Progress">): string {
  return tasks === 0 ? "none yet" : `${done} of ${tasks} merged`;
}
