import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { dispatchQuery, inboxQuery, initiativesQuery, statusQuery } from "../api/queries";
import { cx } from "../lib/cx";
import { Icon } from "../ui/Icon";
import { ring } from "../ui/status";
import { useCw } from "./cw";
import { places, type Place } from "./links";

const item =
  "flex h-(--control) items-center gap-2 rounded-box px-2 text-ink-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-here aria-[current=page]:font-mid aria-[current=page]:text-ink " +
  "max-tab:relative max-tab:h-14 max-tab:flex-col max-tab:justify-center max-tab:gap-0.5 max-tab:rounded-none max-tab:px-0 max-tab:text-11 max-tab:aria-[current=page]:bg-transparent max-tab:aria-[current=page]:shadow-[inset_0_2px_0_var(--color-ink)]";

/** The pages, then the initiatives. On a phone the tab bar at the bottom. */
export function Sidebar() {
  const counts = useCounts();
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
            <PlaceLink place={place} count={counts[place.to] ?? 0} />
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

/** How much there is on a page: all of it is read for the frame and Now anyway. */
function useCounts(): Partial<Record<Place["to"], number>> {
  const { client } = useCw();
  const dispatch = useQuery(dispatchQuery(client)).data;
  return {
    "/": useQuery(inboxQuery(client)).data?.items?.length,
    "/initiatives": useQuery(initiativesQuery(client)).data?.length,
    "/review": dispatch && dispatch.merges.length + (dispatch.landing ?? []).length,
    "/conversations": useQuery(statusQuery(client)).data?.conversations,
  };
}

function PlaceLink({ place, count }: { place: Place; count: number }) {
  const hot = place.to === "/";
  return (
    <Link to={place.to} activeOptions={{ exact: place.to === "/", includeSearch: false }} className={item}>
      <Icon name={place.icon} />
      <span>{place.text}</span>
      {count > 0 && (
        <span className={cx("ml-auto text-12 tabular-nums", hot ? "font-bold text-need max-tab:absolute max-tab:top-1 max-tab:left-[calc(50%+0.5rem)] max-tab:bg-bg max-tab:px-1" : "text-ink-3 max-tab:hidden")}>
          {count}
          <span className="sr-only"> {place.counts}</span>
        </span>
      )}
    </Link>
  );
}

/** Initiatives at work, with how many of their tasks are merged. */
function Initiatives() {
  const { client } = useCw();
  const open = (useQuery(initiativesQuery(client)).data ?? []).slice(0, 20);
  if (open.length === 0) return null;
  return (
    <div className="max-tab:hidden">
      <h2 className="h-6 px-2 text-11 font-mid text-ink-3">Initiatives</h2>
      <ul>
        {open.map(({ id, slug, name, progress }) => (
          <li key={id}>
            <Link to="/initiatives/$slug" params={{ slug }} className={item}>
              {progress?.tasks ? <Icon name={ring(progress.done, progress.tasks)} className="text-work" /> : <Icon name="s-draft" className="text-ink-3" />}
              <span className="min-w-0 flex-1 truncate">{name}</span>
              <span className="text-12 text-ink-3 tabular-nums">{progress?.tasks ? `${progress.done}/${progress.tasks}` : "draft"}</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
