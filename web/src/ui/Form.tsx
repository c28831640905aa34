import type { ReactNode } from "react";

/** What is dealt with in place, filling its room. Enter presses its submit button; what cannot be undone has none. */
export function Form({ onSubmit, children }: { onSubmit?: () => void; children: ReactNode }) {
  return (
    <form
      className="flex min-h-full flex-1 flex-col gap-2 max-tab:gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.();
      }}
    >
      {children}
    </form>
  );
}
