import { Link } from "@tanstack/react-router";
import type { Schema } from "../../api/client";
import type { Dispatch } from "../../api/initiativeQueries";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { say, sayFailed } from "../../app/notices";
import { inlineOf } from "../../lib/markdown";
import { count, dollars, oneLine } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { initiativeMark, mergedOf } from "./mark";
import { standsAt } from "./stands";
import { workWords } from "./tree";

interface Props {
  one: Schema<"Initiative">;
  dispatch: Dispatch | undefined;
  cost: number;
}

/** One initiative in a row: progress, who works, what waits, what it costs. */
export function InitiativeRow({ one, dispatch, cost }: Props) {
  const progress = one.progress ?? { tasks: 0, done: 0 };
  const mark = initiativeMark(one.status, progress);
  const at = standsAt(one.id, dispatch);
  return (
    <li className="group relative border-b border-line hover:bg-hover focus-within:bg-hover">
      <Link
        to="/initiatives/$slug"
        params={{ slug: one.slug }}
        className="grid min-h-11 grid-cols-[1rem_minmax(10rem,1.6fr)_8rem_minmax(8rem,1fr)_minmax(8rem,1fr)_5rem_2rem] items-center gap-3 px-4 py-1.5 max-desk:grid-cols-[1rem_minmax(8rem,1.6fr)_7rem_minmax(7rem,1fr)_2rem] max-tab:grid-cols-[1rem_minmax(0,1fr)_auto]"
      >
        <Icon name={mark.icon} className={mark.tone} label={mark.word} />
        <span className="min-w-0">
          <span className="block truncate font-mid">{one.name}</span>
          <span className="block truncate text-12 text-ink-3">{one.goal === one.name ? one.projects.map((project) => project.name).join(", ") : wordsIn(one.goal)}</span>
        </span>
        <span className="text-12 text-ink-2 tabular-nums">{progress.tasks > 0 ? mergedOf(progress) : "no tasks yet"}</span>
        <span className="truncate text-12 tabular-nums max-tab:col-start-2">
          {at.person > 0 ? <span className="text-need">{count(at.person, "task waits for you", "tasks wait for you")}</span> : at.waiting > 0 ? <span className="text-ink-2">{count(at.waiting, "task waits", "tasks wait")}</span> : null}
        </span>
        <span className="truncate text-12 text-ink-2 tabular-nums max-desk:hidden">{[at.work > 0 && workWords(at.work), at.landing].filter(Boolean).join(" · ")}</span>
        <span className="text-right text-12 text-ink-2 tabular-nums max-desk:hidden">{dollars(cost)}</span>
        <span />
      </Link>
      <Archive one={one} />
    </li>
  );
}

/** A text in Markdown as words in one line. */
function wordsIn(markdown: string): string {
  return inlineOf(oneLine(markdown)).map((part) => part.text).join("");
}

function Archive({ one }: { one: Schema<"Initiative"> }) {
  const { client } = useCw();
  const set = (archived: boolean) => client.post("/v1/initiatives/{initiative}", { path: { initiative: one.slug }, body: { archived } });
  const archive = useMutation({
    mutationFn: () => set(true),
    onSuccess: () => say(`${one.name} is archived. Nothing of it is lost.`, () => void set(false).catch((error: unknown) => sayFailed(wordsOf(error)))),
    onError: (error) => sayFailed(wordsOf(error)),
  });
  return (
    <span className="absolute top-2 right-3 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-tab:opacity-100">
      <Button look="quiet" icon="s-archived" aria-label={`Archive ${one.name}`} title="Archive: nothing in it changes any more; it can be taken out again" acting={archive.isPending} onClick={() => archive.mutate()} />
    </span>
  );
}
