import type { Schema } from "../../../api/client";
import { useNow } from "../../../lib/clock";
import { cx } from "../../../lib/cx";
import { Ago } from "../../../ui/Ago";
import { Icon } from "../../../ui/Icon";
import { fromOf, markOfItem, textOf, type Item } from "./items";

interface Props {
  item: Item;
  gone: boolean;
  merge: Schema<"Merge"> | undefined;
  open: boolean;
  onChoose: () => void;
}

/** One line of the inbox. On a phone two, and the open one's text stands in its detail. */
export function InboxRow({ item, gone, merge, open, onChoose }: Props) {
  const now = useNow();
  const mark = markOfItem(item, merge);
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-controls={open ? "inbox-detail" : undefined}
      onClick={onChoose}
      className={cx(
        "grid w-full items-center gap-x-2 text-left focus-visible:outline-offset-[-2px]",
        "tab:h-(--row) tab:grid-cols-[1rem_5.25rem_minmax(0,1fr)_auto_3.25rem] tab:pr-3 tab:pl-4",
        "max-tab:min-h-14 max-tab:grid-cols-[1.25rem_minmax(0,1fr)_auto] max-tab:content-center max-tab:px-4 max-tab:py-2",
        open ? "tab:bg-select tab:shadow-[inset_2px_0_0_var(--color-work)] max-tab:min-h-10 max-tab:pb-0" : "hover:bg-hover",
        gone && "opacity-55",
      )}
    >
      <Icon name={mark.icon} className={mark.tone} />
      <span className={cx("text-12 font-mid", mark.text)}>{mark.word}</span>
      <span className={cx("max-tab:order-last max-tab:col-span-2 max-tab:col-start-2 tab:truncate", open && "max-tab:hidden")}>{textOf(item, now)}</span>
      <span className="max-w-28 truncate text-12 text-ink-3 max-tab:hidden">{fromOf(item)}</span>
      <Ago at={item.since} className="text-right text-12 text-ink-3" />
    </button>
  );
}
