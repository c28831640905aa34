import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type MouseEvent } from "react";
import { useCw } from "../../../app/cw";
import { useKeys, type Key } from "../../../app/keys";
import { dispatchQuery } from "../../../api/queries";
import { useNow } from "../../../lib/clock";
import { cx } from "../../../lib/cx";
import { SectionHead } from "../../../ui/Section";
import { Detail } from "./Detail";
import { InboxRow } from "./InboxRow";
import { summary, type Item } from "./items";
import type { Chosen } from "./useChosen";

/** What waits for a person, in the order of the daemon; the chosen one is dealt with beside the list. */
export function Inbox({ items, chosen }: { items: Item[]; chosen: Chosen }) {
  const section = useRef<HTMLElement>(null);
  const [inside, setInside] = useState(false);
  const { client } = useCw();
  const merges = useQuery(dispatchQuery(client)).data?.merges ?? [];
  useInboxKeys(section, inside, chosen);
  const { key } = chosen;
  useEffect(() => {
    // The chosen one stays in view of a list that scrolls; the focus that went with what was dealt with comes to it.
    section.current?.querySelector("[aria-expanded=true]")?.scrollIntoView({ block: "nearest" });
    if (inside && document.activeElement === document.body) document.getElementById("inbox-detail")?.focus();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- when another one is chosen, not when the focus moves
  }, [key]);
  return (
    <section
      ref={section}
      aria-labelledby="needs-you"
      onFocus={() => setInside(true)}
      onBlur={(event) => setInside(event.currentTarget.contains(event.relatedTarget as Node | null))}
    >
      <SectionHead id="needs-you" title="Needs you" count={items.length}>
        <Summary items={items} />
      </SectionHead>
      <div className="relative border-b border-line">
        <ol className={cx("h-77 overflow-y-auto border-r border-line tab:w-[44%]", "max-tab:h-auto max-tab:overflow-visible max-tab:border-r-0")}>
          {chosen.shown.map(({ item, gone }) => (
            <li key={item.key} className="max-tab:border-t max-tab:border-line">
              <InboxRow item={item} gone={gone} merge={merges.find((one) => one.id === item.mergeId)} open={item.key === key} onChoose={() => chosen.choose(item.key)} />
              {item.key === key && (
                <div
                  id="inbox-detail"
                  data-detail
                  tabIndex={-1}
                  onClickCapture={onceOnly}
                  className="flex flex-col gap-2 outline-none tab:absolute tab:top-0 tab:right-0 tab:bottom-0 tab:left-[44%] tab:overflow-auto tab:pt-2 tab:pr-4 tab:pb-3 tab:pl-6 max-tab:gap-3 max-tab:px-4 max-tab:pb-4 max-tab:pl-11"
                >
                  <Detail item={item} gone={gone} onDone={() => chosen.finish(item)} onNext={chosen.shown.length > 1 ? () => chosen.move(1) : undefined} />
                </div>
              )}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

function Summary({ items }: { items: Item[] }) {
  return <span className="min-w-0 flex-1 truncate text-ink-3">{summary(items, useNow())}</span>;
}

/** The keys of the inbox. What decides works inside alone; a question brings its own. */
function useInboxKeys(section: React.RefObject<HTMLElement | null>, inside: boolean, chosen: Chosen): void {
  const press = (selector: string) => section.current?.querySelector<HTMLElement>(`[data-detail] ${selector}`);
  const keys: Key[] = [
    { key: "n", does: "next item", run: () => chosen.move(1) },
    { key: "o", does: "own words", run: () => press("[data-own]")?.focus() },
  ];
  const within: Key[] = [
    { key: "j", does: "move", hint: true, run: () => chosen.move(1) },
    { key: "k", does: "move up", run: () => chosen.move(-1) },
    { key: "ArrowDown", does: "next item", run: () => chosen.move(1) },
    { key: "ArrowUp", does: "previous item", run: () => chosen.move(-1) },
    { key: "Enter", does: "do it", hint: true, run: () => press("button[type=submit]")?.click() },
    { key: "y", does: "accept", run: () => press("[data-accept]")?.click() },
    { key: "d", does: "dismiss", run: () => press("[data-dismiss]")?.click() },
    { key: "Escape", does: "leave the inbox", typing: true, run: () => (document.activeElement as HTMLElement | null)?.blur() },
  ];
  useKeys("Inbox", inside ? [...within, ...keys] : keys);
}

/** The second click of a double click acts on nothing: what it hits may be the next item, which came to the same place. */
function onceOnly(event: MouseEvent<HTMLElement>): void {
  if (event.detail > 1 && (event.target as Element).closest("button, a")) {
    event.preventDefault();
    event.stopPropagation();
  }
}
