import type { Task } from "../../api/initiativeQueries";
import { markOf, ring, type Mark } from "../../ui/status";

/** The mark of an initiative: how far its tasks are. */
export function initiativeMark(status: string, tasks: Pick<Task, "status">[]): Mark {
  if (status !== "active") return markOf("phase", status);
  const done = tasks.filter((task) => task.status === "done").length;
  if (tasks.length === 0) return { ...markOf("phase", "draft"), word: "No tasks yet" };
  if (done === tasks.length) return { ...markOf("phase", "done"), word: "All merged" };
  return { ...markOf("phase", "running"), icon: ring(done, tasks.length), word: `${done} of ${tasks.length} merged` };
}
