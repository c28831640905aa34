import { count, oneLine } from "./words";

/** "changed 3 files outside its paths: a, b, c": what the work on a task changed outside the task's paths. */
export function outsideText(total: number, files: string[]): string {
  const text = `changed ${count(total, "file")} outside its paths`;
  if (files.length === 0) return text;
  const more = total - files.length;
  return `${text}: ${files.map(oneLine).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
