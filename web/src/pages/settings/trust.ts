import type { Schema } from "../../api/client";

type FileView = Schema<"ProjectFileView">;

/** Whether a file has commands that cw would run. */
export function runs(file: FileView): number {
  const { setup, checks, teardown } = file.file;
  return (setup?.length ?? 0) + (checks?.length ?? 0) + (teardown?.length ?? 0);
}

/** How the trust in a cw.yaml stands, in a word or two. */
export function trustOf(file: FileView): { word: string; tone: string } {
  if (file.problem) return { word: "cw.yaml is wrong", tone: "text-fail" };
  if (!file.present) return { word: "no cw.yaml", tone: "text-ink-3" };
  if (!file.trusted) return { word: "not trusted", tone: "text-need" };
  return runs(file) === 0 ? { word: "runs nothing", tone: "text-ink-3" } : { word: "trusted", tone: "text-done" };
}
