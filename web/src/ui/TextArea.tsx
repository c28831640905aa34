import { useEffect, useRef, type ComponentProps } from "react";
import { cx } from "../lib/cx";

interface Props extends ComponentProps<"textarea"> {
  /** Says what it is for, to those who do not see the placeholder. */
  label: string;
  onText: (text: string) => void;
  /** Ctrl or ⌘ with Enter sends. */
  onEnter?: () => void;
}

/** Several lines of text. */
export function TextArea({ label, onText, onEnter, autoFocus, className, ...rest }: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (autoFocus) area.current?.focus();
  }, [autoFocus]);
  return (
    <label className="grid min-w-0">
      <span className="sr-only">{label}</span>
      <textarea
        ref={area}
        {...rest}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !onEnter) return;
          event.preventDefault();
          onEnter();
        }}
        className={cx("w-full resize-y rounded-box border border-line-2 bg-sunken px-2.5 py-1.5 text-ink placeholder:text-ink-3", className)}
      />
    </label>
  );
}
