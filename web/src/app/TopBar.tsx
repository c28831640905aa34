import type { ReactNode } from "react";

/** Where one is, then what is to be known or done here: cost, one primary action. */
export function TopBar({ children }: { children: ReactNode }) {
  return (
    <header className="flex min-w-0 items-center gap-3 border-b border-l border-line bg-panel px-4 max-tab:sticky max-tab:top-0 max-tab:z-5 max-tab:h-12 max-tab:border-l-0">
      {children}
    </header>
  );
}

/** The page itself, below its bar: the only part that scrolls. */
export function Main({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <main id="main" tabIndex={-1} className={`relative min-w-0 overflow-auto border-l border-line bg-panel max-tab:overflow-visible max-tab:border-l-0 ${className}`}>
      {children}
    </main>
  );
}
