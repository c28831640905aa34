import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState, type ReactNode, type RefObject } from "react";
import type { Schema } from "../../api/client";
import { useCw } from "../../app/cw";
import { cx } from "../../lib/cx";
import { count } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { messagesQuery, questionsQuery } from "./agentQueries";
import { holds, type Reader, type Reading } from "./reader";
import { ItemRow } from "./items/ItemRow";
import { MessageRow } from "./items/MessageRow";
import { QuestionRow } from "./items/QuestionRow";
import { RunMark } from "./items/RunMark";
import type { Item } from "./items";
import { rowsOf, type Row } from "./rows";
import { Stream, type StreamHandle } from "./Stream";
import type { Folds } from "./useFolds";

/** Where the stream is to go once it is there: a run, a place, or nowhere. */
export type Target = { run: number } | { place: string } | null;

interface Props {
  agent: Schema<"AgentView">;
  reader: Reader;
  reading: Reading;
  folds: Folds;
  following: boolean;
  onFollowing: (following: boolean) => void;
  target: Target;
  onThere: () => void;
  /** The rows as they are shown, for searching. */
  rowsRef: RefObject<Row[]>;
  streamRef: RefObject<StreamHandle | null>;
  /** The row that a search is at. */
  marked: string | null;
  children?: ReactNode;
}

/** The conversation: the agent's output, with what cw knows around it. */
export function Talk({ agent, reader, reading, folds, following, onFollowing, target, onThere, rowsRef, streamRef, marked, children }: Props) {
  const rows = useRows(agent, reader, reading);
  rowsRef.current = rows;
  const fresh = useFresh(reading.revision, reader.conversation.items, following);
  useEffect(() => {
    if (target === null || reading.busy === "newer") return;
    const at = rows.findIndex((row) => ("run" in target ? row.kind === "run" && row.run.sessionNumber === target.run : row.kind === "item" && holds(row.item, target.place)));
    if (at < 0) return;
    streamRef.current?.toRow(at);
    onThere();
  }, [target, rows, reading.busy, streamRef, onThere]);

  const folders = useMemo(() => [agent.agentCwd, ...(agent.projects ?? []).map((one) => one.cwd)], [agent.agentCwd, agent.projects]);
  const works = agent.status === "running" || agent.status === "starting";
  const last = agent.runs?.at(-1)?.sessionNumber ?? 0;
  const paint = (row: Row) => {
    switch (row.kind) {
      case "run":
        return <RunMark run={row.run} account={agent.accountId === row.run.accountId ? agent.accountName : ""} />;
      case "message":
        return <MessageRow message={row.message} open={folds.isOpen(row.key, false)} onOpen={(open) => folds.set(row.key, open)} />;
      case "questions":
        return <QuestionRow questions={row.questions} agent={agent.name} />;
    }
    const { item } = row;
    return (
      <div className={cx(row.key === marked && "rounded-box bg-select")}>
        <ItemRow item={item} version={item.version} open={folds.isOpen(item.key, opensItself(item))} onOpen={folds.set} folders={folders} live={works && item.session === last} />
      </div>
    );
  };
  const follow = useCallback(() => {
    onFollowing(true);
    if (!reader.state.get().attached) void reader.start();
  }, [reader, onFollowing]);
  return (
    <section aria-label="Conversation" className="relative flex min-h-0 min-w-0 flex-1 flex-col">
      {reading.error !== null && <Failure what="The output could not be read" error={reading.error} onRetry={() => void reader.start()} />}
      {rows.length > 0 ? (
        <Stream ref={streamRef} rows={rows} paint={paint} following={following && reading.attached} onFollowing={onFollowing} onStart={() => void reader.loadOlder()} onEnd={() => void reader.loadNewer()} />
      ) : (
        <div className="min-h-0 flex-1">
          {!reading.ready && reading.error === null && !reading.gone && <Skeleton rows={10} />}
          {(reading.ready || reading.gone) && <Empty title={reading.gone ? "Its output is no longer kept" : "Nothing yet"}>{reading.gone ? "Its branch, its messages and its runs still are." : "What it says comes here as it comes."}</Empty>}
        </div>
      )}
      {!(following && reading.attached) && rows.length > 0 && (
        <div className="relative">
          <Button icon="u-follow" keys="f" className="absolute bottom-1 left-1/2 -translate-x-1/2 bg-raised shadow-pop" onClick={follow}>
            Follow{fresh > 0 && `, ${fresh} new`}
          </Button>
        </div>
      )}
      <p role="status" className="sr-only">{announced(agent)}</p>
      {children}
    </section>
  );
}

/** What opens without being asked: small changes and the newest plan. */
function opensItself(item: Item): boolean {
  return item.kind === "plan" ? item.latest : item.kind === "tool" && item.edits.length > 0;
}

/** New questions and crashes are said aloud. */
function announced(agent: Schema<"AgentView">): string {
  const open = (agent.pendingQuestions ?? []).length;
  if (open > 0) return `${agent.name} asks ${count(open, "question")}`;
  return agent.status === "crashed" ? `${agent.name} crashed` : "";
}

function useRows(agent: Schema<"AgentView">, reader: Reader, reading: Reading): Row[] {
  const { client } = useCw();
  const messages = useQuery(messagesQuery(client, agent.id)).data;
  const questions = useQuery(questionsQuery(client, agent.name)).data;
  return useMemo(
    () => (reading.ready || reading.gone ? rowsOf(reader.conversation.items, { runs: agent.runs ?? [], messages: messages ?? [], questions: questions ?? [], older: reading.older, newer: !reading.attached && !reading.gone }) : []),
    // The items are changed in place: the revision says when.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [reader, reading.revision, reading.ready, reading.gone, reading.older, reading.attached, agent.runs, messages, questions],
  );
}

/** How many items came since it no longer follows. */
function useFresh(revision: number, items: readonly Item[], following: boolean): number {
  const [from, setFrom] = useState<string | null>(null);
  const last = items.at(-1)?.key ?? null;
  useEffect(() => {
    setFrom(following ? null : last);
    // Only when it stops or begins to follow.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [following]);
  return useMemo(() => {
    if (from === null) return 0;
    const at = items.findLastIndex((item) => item.key === from);
    return at < 0 ? 0 : items.length - 1 - at;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [from, revision, items]);
}
