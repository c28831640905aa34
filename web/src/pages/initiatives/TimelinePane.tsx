import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { logQuery, type InitiativeView } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { clockTime, exactTime } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Failure } from "../../ui/Failure";
import { Icon } from "../../ui/Icon";
import { Skeleton } from "../../ui/Skeleton";
import { dayOf, storyOf, told, type Line } from "./story";

/** What happened in an initiative, newest first. */
export function TimelinePane({ view, onSelect, onClose }: { view: InitiativeView; onSelect: (task: string) => void; onClose: () => void }) {
  const { client } = useCw();
  const log = useInfiniteQuery(logQuery(client, view.slug, told));
  const days = useMemo(() => byDay(storyOf(log.data?.pages.flatMap((page) => page.items) ?? [])), [log.data]);
  return (
    <div className="px-8 pt-2 pb-8 max-tab:px-4">
      <div className="flex min-h-8 items-center gap-2">
        <h2 className="font-bold">Timeline</h2>
        <span className="text-ink-3">newest first</span>
        <span className="flex-1" />
        <Button look="quiet" icon="u-x" aria-label="Back to the pages" onClick={onClose} />
      </div>
      {log.isPending && <Skeleton rows={10} />}
      {log.error && <Failure what="The timeline could not be read" error={log.error} onRetry={() => void log.refetch()} />}
      {days.map(([day, lines]) => (
        <section key={day} aria-label={day}>
          <h3 className="mt-2 h-6 text-11 font-mid text-ink-3">{day}</h3>
          <ol>
            {lines.map((line) => (
              <Row key={line.key} line={line} known={view.tasks.some((task) => task.id === line.task)} onSelect={onSelect} />
            ))}
          </ol>
        </section>
      ))}
      {log.hasNextPage && <Button className="mt-2" acting={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>Show older</Button>}
    </div>
  );
}

function Row({ line, known, onSelect }: { line: Line; known: boolean; onSelect: (task: string) => void }) {
  const { task } = line;
  return (
    <li className="grid min-h-7 grid-cols-[2.5rem_1rem_minmax(0,1fr)] items-start gap-2 py-1">
      <time dateTime={line.at} title={exactTime(line.at)} className="text-12 leading-5 text-ink-3">{clockTime(line.at)}</time>
      <Icon name={line.mark.icon} className={`mt-0.5 ${line.mark.tone}`} />
      {task !== undefined && known ? (
        <button type="button" onClick={() => onSelect(task)} className="line-clamp-3 text-left break-words hover:underline">{line.text}</button>
      ) : (
        <span className="line-clamp-3 break-words">{line.text}</span>
      )}
    </li>
  );
}

function byDay(lines: Line[]): [string, Line[]][] {
  const days = new Map<string, Line[]>();
  for (const line of lines) days.set(dayOf(line.at), [...(days.get(dayOf(line.at)) ?? []), line]);
  return [...days];
}
