import type { ReactNode } from "react";
import { Command } from "./Command";

interface Props {
  title: string;
  children?: ReactNode;
  /** The next command. */
  command?: string;
}

/** Says what is missing, and how it comes. */
export function Empty({ title, children, command }: Props) {
  return (
    <section className="mx-auto grid max-w-164 gap-4 px-6 pt-12 pb-12 max-tab:pt-8">
      <h2 className="text-20 font-bold tracking-tight">{title}</h2>
      {children && <div className="max-w-[60ch] text-14 text-ink-2">{children}</div>}
      {command && <Command text={command} />}
    </section>
  );
}
