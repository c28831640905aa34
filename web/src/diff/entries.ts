import type { Schema } from "../api/client";
import type { Comment } from "./comments";
import type { FilePatch } from "./patch";
import { rowsOf, type Row } from "./rows";

/** One entry of the list that is scrolled. */
export type Entry =
  | { kind: "file"; key: string; file: Schema<"FileChange">; open: boolean }
  | { kind: "row"; key: string; file: Schema<"FileChange">; row: Row }
  | { kind: "remark"; key: string; comment: Comment }
  /** Its lines are asked for when it comes into sight. */
  | { kind: "unread"; key: string; file: Schema<"FileChange"> }
  | { kind: "note"; key: string; file: Schema<"FileChange">; text: string };

/** More changed lines than this are folded until somebody wants them. */
export const MANY_LINES = 1000;

/** Whether a file is open when nobody folded or opened it. */
export function opensItself(file: Schema<"FileChange">, viewed: boolean): boolean {
  return !viewed && !file.binary && file.additions + file.deletions <= MANY_LINES;
}

/** What is known of a file's lines: undefined when they were not read yet. */
export type PatchOf = (path: string) => { rows: Row[]; patch: FilePatch | null; error?: string } | undefined;

interface Options {
  files: Schema<"FileChange">[];
  isOpen: (file: Schema<"FileChange">) => boolean;
  patchOf: PatchOf;
  comments: Comment[];
}

/** All entries, in order. */
export function entriesOf({ files, isOpen, patchOf, comments }: Options): Entry[] {
  const out: Entry[] = [];
  for (const file of files) {
    const open = isOpen(file);
    out.push({ kind: "file", key: `file ${file.path}`, file, open });
    if (!open) continue;
    const read = patchOf(file.path);
    if (file.binary) out.push(note(file, "A binary file: there are no lines to show."));
    else if (!read) out.push({ kind: "unread", key: `unread ${file.path}`, file });
    else if (read.error !== undefined) out.push(note(file, read.error));
    else out.push(...linesOf(file, read.rows, read.patch, comments.filter((one) => one.path === file.path)));
  }
  return out;
}

function note(file: Schema<"FileChange">, text: string): Entry {
  return { kind: "note", key: `note ${file.path}`, file, text };
}

function linesOf(file: Schema<"FileChange">, rows: Row[], patch: FilePatch | null, comments: Comment[]): Entry[] {
  const out: Entry[] = [];
  if (patch?.mode) out.push(note(file, `Mode ${patch.mode}`));
  if (rows.length === 0 && !patch?.mode) out.push(note(file, patch?.kind === "renamed" ? "Renamed, nothing else." : "No line changed."));
  rows.forEach((row, i) => {
    out.push({ kind: "row", key: `row ${file.path} ${i}`, file, row });
    for (const comment of comments.filter((one) => isBelow(one, row))) out.push({ kind: "remark", key: `remark ${comment.id}`, comment });
  });
  // Remarks whose line is no longer part of the diff are kept in sight.
  for (const comment of comments.filter((one) => !rows.some((row) => isBelow(one, row)))) out.push({ kind: "remark", key: `remark ${comment.id}`, comment });
  return out;
}

/** Whether a remark stands below a row. */
function isBelow(comment: Comment, row: Row): boolean {
  switch (row.kind) {
    case "hunk":
      return false;
    case "line":
      return row.painted.line[comment.side] === comment.line;
    case "pair":
      return (comment.side === "old" ? row.left : row.right)?.line[comment.side] === comment.line;
  }
}

/** Rows of patches that were shown before: painting thousands of lines anew at each look would be felt. */
export class RowCache {
  private readonly kept = new WeakMap<FilePatch, { split: Row[] | null; unified: Row[] | null }>();

  rows(patch: FilePatch, split: boolean): Row[] {
    let one = this.kept.get(patch);
    if (!one) this.kept.set(patch, (one = { split: null, unified: null }));
    const way = split ? "split" : "unified";
    return (one[way] ??= rowsOf(patch, split));
  }
}
