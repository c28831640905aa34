import type { ReactNode } from "react";

/** The head of a section: its name, how many, and what else is to be said. */
export function SectionHead({ id, title, count, children }: { id?: string; title: string; count?: number | undefined; children?: ReactNode }) {
  return (
    <div className="flex h-9 items-center gap-2 px-4">
      <h2 id={id} className="font-bold">{title}</h2>
      {count !== undefined && <span className="text-ink-3 tabular-nums">{count}</span>}
      {children}
    </div>
  );
}
