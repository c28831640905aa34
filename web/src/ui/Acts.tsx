import type { ReactNode } from "react";

/** What is asked, or what happened: the head of what can be dealt with in place. */
export function Title({ id, children }: { id?: string; children: ReactNode }) {
  return <h3 id={id} className="text-14 font-bold break-words whitespace-pre-line max-tab:text-16">{children}</h3>;
}

/** What can be done, at the foot; what it will do stands at its right. */
export function Acts({ children, note }: { children: ReactNode; note?: ReactNode }) {
  return (
    <div className="mt-auto flex flex-wrap items-center gap-2 pt-1 max-tab:*:h-11 max-tab:[&>.primary]:flex-1">
      {children}
      {note && <span className="ml-auto text-right text-ink-3 max-tab:ml-0 max-tab:h-auto! max-tab:w-full max-tab:text-left">{note}</span>}
    </div>
  );
}
