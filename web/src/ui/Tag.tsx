import type { ReactNode } from "react";

/** A short fact with a border. */
export function Tag({ children }: { children: ReactNode }) {
  return <span className="inline-flex h-5 items-center gap-1 rounded-chip border border-line-2 px-1.5 text-11 font-mid whitespace-nowrap text-ink-2">{children}</span>;
}
