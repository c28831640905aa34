import { useId } from "react";
import { cx } from "../lib/cx";
import { inert } from "../lib/words";
import type { Asked, Draft } from "./drafts";

interface Props {
  asked: Asked;
  draft: Draft;
  /** The id of what says the question. */
  title: string;
  onPick: (label: string) => void;
  onOwn: (text: string) => void;
}

/** What may be answered: the offered options, numbered as the keys, and own words. */
export function Options({ asked, draft, title, onPick, onOwn }: Props) {
  const name = useId();
  const options = asked.options ?? [];
  return (
    <>
      {options.length > 0 && (
        <fieldset aria-labelledby={title} className="-mx-2 grid gap-px max-tab:mx-0 max-tab:gap-1.5">
          {options.map((option, i) => {
            const chosen = draft.picks.includes(option.label);
            return (
              <label
                key={option.label}
                className={cx(
                  "grid min-h-(--row) cursor-pointer grid-cols-[1.125rem_minmax(0,auto)_minmax(0,1fr)] items-center gap-x-2 rounded-box px-2 py-0.5 has-focus-visible:outline-2 has-focus-visible:outline-work",
                  "max-tab:min-h-11 max-tab:grid-cols-[1.125rem_minmax(0,1fr)] max-tab:border max-tab:p-2",
                  chosen ? "bg-select max-tab:border-work" : "hover:bg-hover max-tab:border-line-2",
                )}
              >
                <input type={asked.multiSelect ? "checkbox" : "radio"} name={name} data-option={i + 1} checked={chosen} onChange={() => onPick(option.label)} className="sr-only" />
                <span
                  aria-hidden="true"
                  className={cx("inline-flex size-4.5 items-center justify-center rounded-chip border font-mono text-11", chosen ? "border-work bg-work text-on-ink" : "border-line-2 bg-panel text-ink-2")}
                >
                  {i + 1}
                </span>
                <b className="font-mid break-words">{inert(option.label)}</b>
                {option.description && <span className="text-12 leading-4 text-ink-2 max-tab:col-start-2">{inert(option.description)}</span>}
              </label>
            );
          })}
        </fieldset>
      )}
      <OwnWords value={draft.own} title={title} placeholder={options.length === 0 ? "In your own words" : asked.multiSelect ? "And in your own words" : "Or in your own words"} onOwn={onOwn} />
    </>
  );
}

function OwnWords({ value, title, placeholder, onOwn }: { value: string; title: string; placeholder: string; onOwn: (text: string) => void }) {
  return (
    <label className="flex min-h-(--control) items-center gap-2 rounded-box border border-line-2 bg-sunken px-2 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-work max-tab:min-h-11">
      <span className="sr-only">Your own words</span>
      <span aria-hidden="true" className="hidden size-4.5 flex-none items-center justify-center rounded-chip border border-line-2 bg-panel font-mono text-11 text-ink-2 tab:inline-flex">o</span>
      <textarea
        data-own
        rows={1}
        value={value}
        aria-describedby={title}
        placeholder={placeholder}
        onInput={(event) => onOwn(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
        className="field-sizing-content max-h-32 min-w-0 flex-1 resize-none bg-transparent py-1 outline-none!"
      />
    </label>
  );
}
