import type { LoggedEvent } from "../../api/eventLog";
import type { Schema } from "../../api/client";
import { EventRow } from "./EventRow";

interface Props {
  events: LoggedEvent[];
  agents: Schema<"AgentView">[];
  initiatives: { id: string; name: string; slug: string }[];
}

/** Events under the days on which they happened. */
export function EventDays({ events, agents, initiatives }: Props) {
  const names = new Map(agents.map((one) => [one.id, one.name]));
  const slugs = new Map(initiatives.map((one) => [one.id, one]));
  return (
    <>
      {daysOf(events).map(({ day, events: those }) => (
        <section key={day} aria-label={day}>
          <h2 className="flex h-8 items-center border-b border-line px-4 text-11 font-mid text-ink-3">{day}</h2>
          <ol>
            {those.map((event) => (
              <EventRow key={event.seq} event={event} agent={event.agentId && names.get(event.agentId)} initiative={event.initiativeId ? slugs.get(event.initiativeId) : undefined} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

/** The days, newest first, with their events. */
function daysOf(events: LoggedEvent[]): { day: string; events: LoggedEvent[] }[] {
  const days: { day: string; events: LoggedEvent[] }[] = [];
  for (const event of events) {
    const day = new Date(event.at).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
    const last = days.at(-1);
    if (last?.day === day) last.events.push(event);
    else days.push({ day, events: [event] });
  }
  return days;
}
