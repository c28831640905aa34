import type { ReactNode } from "react";
import { Icon } from "../../../ui/Icon";

interface Props {
  open: boolean;
  onOpen: (open: boolean) => void;
  head: ReactNode;
  children: () => ReactNode;
}

/** One line that opens. What is inside is made when it is open. */
export function Fold({ open, onOpen, head, children }: Props) {
  return (
    <>
      <button type="button" aria-expanded={open} onClick={() => onOpen(!open)} className="flex min-h-5 w-full items-center gap-2 rounded-chip text-left text-ink-2 hover:text-ink max-tab:min-h-9">
        {head}
        <Icon name={open ? "u-down" : "u-right"} small className="text-ink-3" />
      </button>
      {open && children()}
    </>
  );
}
