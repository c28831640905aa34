const shown: Record<string, string> = { Enter: "↵", Escape: "Esc", mod: navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl", shift: "⇧", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };

/** A key, as it is printed on one. "mod+k" becomes two. It is for eyes: the words beside it say what it does. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="hidden gap-0.5 tab:inline-flex" aria-hidden="true">
      {keys.split("+").map((key) => (
        <kbd key={key} className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-chip border border-line-2 bg-panel px-1 text-11 leading-none text-ink-2 in-[.primary]:border-on-ink/35 in-[.primary]:bg-transparent in-[.primary]:text-on-ink">
          {shown[key] ?? key}
        </kbd>
      ))}
    </span>
  );
}
