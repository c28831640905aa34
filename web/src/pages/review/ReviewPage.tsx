import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { agentsQuery, dispatchQuery } from "../../api/queries";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { Main, TopBar } from "../../app/TopBar";
import { cx } from "../../lib/cx";
import { oneLine } from "../../lib/words";
import { Ago } from "../../ui/Ago";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { Status } from "../../ui/Status";
import { markOf, type Mark } from "../../ui/status";
import { reviewables, type Reviewable } from "./reviewList";

/** What can be reviewed: what waits for a look, what broke on its way, what can land. */
export function ReviewPage() {
  const { client } = useCw();
  const dispatch = useQuery(dispatchQuery(client));
  const agents = useQuery(agentsQuery(client));
  const navigate = useNavigate();
  const [at, setAt] = useState(0);
  const all = reviewables(dispatch.data, agents.data ?? []);
  const open = (one: Reviewable | undefined) => one && void navigate({ to: "/review/$noun/$ref", params: { noun: one.noun, ref: one.ref } });
  useKeys("Review", [
    { key: "j", does: "move", hint: true, run: () => setAt(Math.min(all.length - 1, at + 1)) },
    { key: "k", does: "move back", run: () => setAt(Math.max(0, at - 1)) },
    { key: "Enter", does: "open", hint: true, run: () => open(all[at]) },
  ]);
  const error = dispatch.error ?? agents.error;
  const reading = dispatch.isPending || agents.isPending;
  return (
    <>
      <TopBar><h1 className="text-14 font-bold">Review</h1></TopBar>
      <Main>
        {error && <Failure what="What can be reviewed could not be read" error={error} />}
        {reading && !error && <Skeleton />}
        {!reading && all.length === 0 && (
          <Empty title="Nothing to review" command="cw initiative run &quot;what is to be reached&quot; --until execute">
            The work of tasks stands here on its way to the branch of its initiative, and agents that changed something.
          </Empty>
        )}
        <ul>
          {all.map((one, i) => (
            <li key={one.key}>
              <Link
                to="/review/$noun/$ref"
                params={{ noun: one.noun, ref: one.ref }}
                className={cx("grid min-h-9 grid-cols-[8rem_minmax(0,1.4fr)_minmax(0,1fr)_8rem_3.5rem] items-center gap-2 border-b border-line px-4 py-1 hover:bg-hover max-tab:grid-cols-[minmax(0,1fr)_auto]", i === at && "bg-select")}
              >
                <Status mark={lookOf(one.status)} />
                <span className="truncate font-mid max-tab:col-span-2 max-tab:row-start-2">{oneLine(one.title)}</span>
                <span className="truncate text-12 text-ink-2 max-tab:hidden">{oneLine(one.note)}</span>
                <span className="truncate text-12 text-ink-2 max-tab:hidden">{one.from}</span>
                <span className="text-right text-12 text-ink-3 max-tab:row-start-1 max-tab:col-start-2">{one.since !== "" && <Ago at={one.since} />}</span>
              </Link>
            </li>
          ))}
        </ul>
      </Main>
    </>
  );
}

function lookOf(status: string): Mark {
  if (status === "look") return { ...markOf("inbox", "checkpoint"), word: "Your look" };
  if (status === "landing") return { ...markOf("inbox", "landing"), word: "Can land" };
  if (status === "open") return { ...markOf("task", "ready"), word: "On its branch" };
  return markOf("merge", status);
}
