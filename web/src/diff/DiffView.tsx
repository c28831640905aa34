import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Schema } from "../api/client";
import { useKeys } from "../app/keys";
import { Store, useStore } from "../lib/store";
import type { Comment, Comments } from "./comments";
import type { Noun } from "./diffQueries";
import { DiffRow, type OnLine } from "./DiffRow";
import { entriesOf, opensItself, type Entry } from "./entries";
import { FileHead } from "./FileHead";
import { FileList } from "./FileList";
import { Remark } from "./Remark";
import { useDiff } from "./useDiff";
import { useViewed } from "./useViewed";

interface Props {
  noun: Noun;
  ref_: string;
  diff: Schema<"Diff">;
  split: boolean;
  /** Missing where nobody can be told. */
  comments?: Comments;
  /** Who gets the remarks; "": nobody yet. */
  to?: string;
  /** The file to begin at. */
  file?: string | undefined;
}

const none = new Store<Comment[]>([]);

/** A diff: files on the left, their lines on the right, read when they come into sight. */
export function DiffView({ noun, ref_, diff, split, comments, to = "", file }: Props) {
  const files = useMemo(() => diff.files ?? [], [diff.files]);
  const viewed = useViewed(`${noun}/${ref_}`, diff.headCommit);
  const [folds, setFolds] = useState(new Map<string, boolean>());
  const [current, setCurrent] = useState(file);
  const { patchOf, need } = useDiff({ noun, ref: ref_, project: diff.project }, files, diff.headCommit, split);
  const remarks = useStore(comments?.all ?? none);
  const isOpen = (one: Schema<"FileChange">) => folds.get(one.path) ?? opensItself(one, viewed.has(one.path));
  const entries = entriesOf({ files, isOpen, patchOf, comments: remarks });

  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    getItemKey: (i) => entries[i]?.key ?? i,
    estimateSize: (i) => heightOf(entries[i]),
    overscan: 20,
  });

  const goTo = (path: string) => {
    setCurrent(path);
    setFolds((before) => new Map(before).set(path, true));
    const at = entries.findIndex((one) => one.kind === "file" && one.file.path === path);
    if (at >= 0) list.scrollToIndex(at, { align: "start" });
  };
  useStartAt(file, files.length > 0, goTo);
  const step = (by: number) => {
    const at = files.findIndex((one) => one.path === current);
    const next = files[Math.max(0, Math.min(files.length - 1, at + by))];
    if (next) goTo(next.path);
  };
  const toggleViewed = (path: string) => {
    setFolds((before) => new Map(before).set(path, viewed.has(path)));
    viewed.toggle(path);
  };
  useKeys("Diff", [
    { key: "]", does: "next file", hint: true, run: () => step(1) },
    { key: "[", does: "file before", run: () => step(-1) },
    { key: "v", does: "viewed", hint: true, run: () => current && toggleViewed(current) },
  ]);

  const onLine = (path: string): OnLine | undefined =>
    comments && ((side, line) => comments.add({ path, side, line: (side === "old" ? line.old : line.new) ?? 0, quote: line.text, text: "" }));

  const show = (entry: Entry) => {
    switch (entry.kind) {
      case "file":
        return (
          <FileHead
            file={entry.file}
            open={entry.open}
            viewed={viewed.has(entry.file.path)}
            onOpen={() => setFolds((before) => new Map(before).set(entry.file.path, !entry.open))}
            onViewed={() => toggleViewed(entry.file.path)}
          />
        );
      case "row":
        return <DiffRow row={entry.row} onLine={onLine(entry.file.path)} />;
      case "remark":
        return comments && <Remark comment={entry.comment} to={to} right={split && entry.comment.side === "new"} drafts={comments.drafts} onEdit={(text) => comments.edit(entry.comment.id, text)} onRemove={() => comments.remove(entry.comment.id)} />;
      case "note":
        return <p className="border-b border-line px-4 py-2 text-ink-3">{entry.text}</p>;
      case "unread":
        return <Unread lines={entry.file.additions + entry.file.deletions} onSeen={() => need(entry.file.path)} />;
    }
  };

  return (
    <div className="grid h-full min-h-0 grid-cols-[16.5rem_minmax(0,1fr)] max-tab:block">
      <FileList files={files} current={current} viewed={viewed.paths} remarks={countOf(remarks)} onChoose={goTo} />
      <section ref={scroller} aria-label="Diff" tabIndex={0} className="overflow-auto font-mono text-12 max-tab:h-[70dvh]">
        <div className="relative" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const entry = entries[item.index];
            return (
              <div key={item.key} ref={list.measureElement} data-index={item.index} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${item.start}px)` }}>
                {entry && show(entry)}
              </div>
            );
          })}
        </div>
      </section>
    </div>
  );
}

/** Goes to a file once, when the files are there. */
function useStartAt(file: string | undefined, ready: boolean, goTo: (path: string) => void): void {
  const done = useRef(false);
  useEffect(() => {
    if (!ready || done.current || file === undefined) return;
    done.current = true;
    goTo(file);
  });
}

/** Asks for the lines of a file when it is painted, in about the height that they will have. */
function Unread({ lines, onSeen }: { lines: number; onSeen: () => void }) {
  const seen = useRef(onSeen);
  seen.current = onSeen;
  useEffect(() => seen.current(), []);
  return <div role="status" aria-label="Reading the lines" style={{ height: Math.min(lines, 60) * 19 }} />;
}

function heightOf(entry: Entry | undefined): number {
  switch (entry?.kind) {
    case "file":
      return 36;
    case "remark":
      return 110;
    case "unread":
      return Math.min(entry.file.additions + entry.file.deletions, 60) * 19;
    case "note":
      return 36;
  }
  return entry?.kind === "row" && entry.row.kind === "hunk" ? 26 : 19;
}

function countOf(comments: Comment[]): Map<string, number> {
  const out = new Map<string, number>();
  for (const one of comments) out.set(one.path, (out.get(one.path) ?? 0) + 1);
  return out;
}
