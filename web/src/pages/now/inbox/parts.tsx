import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { count } from "../../../lib/words";
import type { Item } from "./items";

/** What the detail of an item is given. */
export interface DetailProps {
  item: Item;
  /** Called when it was dealt with here. */
  onDone: () => void;
  /** Leads to the next item; missing when there is none. */
  onNext?: (() => void) | undefined;
}

/** Who waits, for what task, and how much waits behind it. */
export function Who({ item, children }: { item: Item; children?: ReactNode }) {
  return (
    <div className="flex min-h-5 items-center gap-2 text-12 text-ink-2 max-tab:flex-wrap">
      {item.agent && (
        <Link to="/agents/$name" params={{ name: item.agent }} className="inline-block font-mid text-ink underline decoration-line-3 underline-offset-2 hover:decoration-ink max-tab:min-h-6 max-tab:leading-6">
          {item.agent}
        </Link>
      )}
      {item.task ? <span className="truncate">{item.task}</span> : null}
      {!item.agent && !item.task && item.initiative && (
        <Link to="/initiatives/$slug" params={{ slug: item.initiative }} className="inline-block font-mid text-ink underline decoration-line-3 underline-offset-2 max-tab:min-h-6 max-tab:leading-6">
          {item.initiative}
        </Link>
      )}
      {children}
      {item.behind > 0 && <span className="ml-auto flex-none max-tab:ml-0 max-tab:w-full">{count(item.behind, "task waits", "tasks wait")} on this</span>}
    </div>
  );
}

/** Facts with their names. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-12">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words tabular-nums">{children}</dd>
    </>
  );
}

/** Output of a program, as it was. */
export function Output({ text }: { text: string }) {
  return (
    <pre tabIndex={0} aria-label="Output" className="max-h-32 overflow-auto rounded-box border border-line bg-sunken px-3 py-2 text-12 text-ink-2">
      {text}
    </pre>
  );
}
