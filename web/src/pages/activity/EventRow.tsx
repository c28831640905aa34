import { Link } from "@tanstack/react-router";
import { memo, useState } from "react";
import type { LoggedEvent } from "../../api/eventLog";
import { clockTime, exactTime, inert } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { iconOf, toneOf } from "./groups";
import { sentence } from "./sentence";

/** Seconds, too: what happened after what matters in a log. */
function timeOf(at: string): string {
  return `${clockTime(at)}:${at.slice(17, 19)}`;
}

const actors: Record<string, string> = { person: "a person", dashboard: "a dashboard", agent: "an agent", cw: "cw" };

interface Props {
  event: LoggedEvent;
  /** The name of its agent and of its initiative, when they are there. */
  agent: string | undefined;
  initiative: { name: string; slug: string } | undefined;
}

/** One event: when, what in a sentence, about whom; its payload opens below, as text. */
export const EventRow = memo(function EventRow({ event, agent, initiative }: Props) {
  const [open, setOpen] = useState(false);
  const said = sentence(event);
  return (
    <li className="border-b border-line">
      <div className="grid min-h-(--row) grid-cols-[4.25rem_1rem_minmax(0,1fr)_12rem_2rem] items-center gap-2 px-4 max-tab:grid-cols-[1rem_minmax(0,1fr)_auto_2.25rem] max-tab:py-1.5">
        <time dateTime={event.at} title={exactTime(event.at)} className="text-12 text-ink-3 max-tab:order-1">{timeOf(event.at)}</time>
        <Icon name={iconOf(event.type)} small className={toneOf(event.type)} />
        <span className="min-w-0 truncate max-tab:line-clamp-3 max-tab:whitespace-normal" title={said}>{said}</span>
        <span className="min-w-0 truncate text-right text-12 text-ink-2 max-tab:hidden">
          {agent ? (
            <Link to="/agents/$name" params={{ name: agent }} className="hover:underline">{agent}</Link>
          ) : (
            initiative && <Link to="/initiatives/$slug" params={{ slug: initiative.slug }} className="hover:underline">{initiative.name}</Link>
          )}
        </span>
        <Button look="quiet" className="h-6 max-tab:order-2" icon={open ? "u-down" : "u-right"} aria-expanded={open} aria-label={`What event ${event.seq ?? ""} carries`} onClick={() => setOpen(!open)} />
      </div>
      {open && <Payload event={event} />}
    </li>
  );
});

function Payload({ event }: { event: LoggedEvent }) {
  return (
    <div className="grid gap-2 bg-sunken px-4 py-2">
      <p className="flex flex-wrap gap-x-4 text-12 text-ink-2">
        <code>{event.type}</code>
        <span>event {event.seq}</span>
        <span>by {actors[event.actorKind] ?? event.actorKind}{event.actorId ? ` ${inert(event.actorId)}` : ""}</span>
        <span>{exactTime(event.at)}</span>
      </p>
      <pre className="max-h-80 overflow-auto text-12 break-words whitespace-pre-wrap">{inert(JSON.stringify(event.data ?? {}, null, 2))}</pre>
    </div>
  );
}
