import type { ReactNode } from "react";

/** A detail whose first button Enter presses. */
export function ActForm({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className="flex min-h-full flex-1 flex-col gap-2 max-tab:gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
