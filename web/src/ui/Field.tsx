import { useRef, type ComponentProps } from "react";
import { cx } from "../lib/cx";
import { Icon } from "./Icon";
import { Kbd } from "./Kbd";

interface Props extends Omit<ComponentProps<"input">, "icon"> {
  /** Says what it is for, to those who do not see the placeholder. */
  label: string;
  icon?: string;
  keys?: string;
  onText: (text: string) => void;
}

/** One line of text. */
export function Field({ label, icon, keys, onText, className, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <label
      className={cx("flex h-(--control) min-w-0 items-center gap-1.5 rounded-box border border-line-2 bg-sunken px-2 text-ink-3 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-work", className)}
    >
      {icon && <Icon name={icon} small />}
      <span className="sr-only">{label}</span>
      <input
        ref={input}
        {...rest}
        className="min-w-0 flex-1 bg-transparent p-0 text-ink outline-none! placeholder:text-ink-3"
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {keys && <Kbd keys={keys} />}
    </label>
  );
}
