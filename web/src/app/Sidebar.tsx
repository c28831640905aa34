import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { inboxQuery, initiativesQuery } from "../api/queries";
import { cx } from "../lib/cx";
import { Icon } from "../ui/Icon";
import { markOf } from "../ui/status";
import { useCw } from "./cw";
import { places, type Place } from "./links";

const item =
  "flex h-(--control) items-center gap-2 rounded-box px-2 text-ink-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-here aria-[current=page]:font-mid aria-[current=page]:text-ink " +
  "max-tab:relative max-tab:h-14 max-tab:flex-col max-tab:justify-center max-tab:gap-0.5 max-tab:rounded-none max-tab:px-0 max-tab:text-11 max-tab:aria-[current=page]:bg-transparent max-tab:aria-[current=page]:shadow-[inset_0_2px_0_var(--color-ink)]";

/** The pages, then the initiatives. On a phone the tab bar at the bottom. */
export function Sidebar() {
  const { client } = useCw();
  const inbox = useQuery(inboxQuery(client));
  const waiting = inbox.data?.items?.length ?? 0;
  return (
    <nav
      aria-label="Main"
      className="row-span-2 flex flex-col gap-4 overflow-auto px-2 max-tab:fixed max-tab:inset-x-0 max-tab:bottom-0 max-tab:z-10 max-tab:overflow-visible max-tab:border-t max-tab:border-line max-tab:bg-bg max-tab:px-0 max-tab:pb-[env(safe-area-inset-bottom)]"
    >
      <Link to="/" className="flex h-(--bar) flex-none items-center gap-2 px-2 font-bold max-tab:hidden">
        <Icon name="u-brand" />
        <span>cw</span>
      </Link>
      <ul className="grid max-tab:grid-cols-5">
        {places.map((place) => (
          <li key={place.to} className={cx(place.more && "max-tab:hidden")}>
            <PlaceLink place={place} waiting={place.to === "/" ? waiting : 0} />
          </li>
        ))}
        <li className="tab:hidden">
          <Link to="/more" className={item}>
            <Icon name="u-more" />
            <span>More</span>
          </Link>
        </li>
      </ul>
      <Initiatives />
    </nav>
  );
}

function PlaceLink({ place, waiting }: { place: Place; waiting: number }) {
  return (
    <Link to={place.to} activeOptions={{ exact: place.to === "/", includeSearch: false }} className={item}>
      <Icon name={place.icon} />
      <span>{place.text}</span>
      {waiting > 0 && (
        <span className="ml-auto text-12 font-bold text-need tabular-nums max-tab:absolute max-tab:top-1 max-tab:left-[calc(50%+0.5rem)] max-tab:bg-bg max-tab:px-1">
          {waiting}
          <span className="sr-only"> wait for you</span>
        </span>
      )}
    </Link>
  );
}

/** Initiatives at work, with how many of their tasks are merged. */
function Initiatives() {
  const { client } = useCw();
  const all = useQuery(initiativesQuery(client)).data ?? [];
  const open = all.filter((one) => one.status !== "archived").slice(0, 20);
  if (open.length === 0) return null;
  return (
    <div className="max-tab:hidden">
      <h2 className="h-6 px-2 text-11 font-mid text-ink-3">Initiatives</h2>
      <ul>
        {open.map((one) => (
          <li key={one.id}>
            <Link to="/initiatives/$slug" params={{ slug: one.slug }} className={item}>
              <Icon name={markOf("phase", one.status === "active" ? "running" : one.status).icon} className="text-work" />
              <span className="min-w-0 flex-1 truncate">{one.name}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
