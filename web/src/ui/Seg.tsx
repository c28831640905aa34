import { cx } from "../lib/cx";
import { Icon } from "./Icon";

interface Choice<T extends string> {
  value: T;
  text: string;
  icon?: string;
  tone?: string;
  count?: number | undefined;
}

interface Props<T extends string> {
  label: string;
  value: T;
  choices: Choice<T>[];
  onChoose: (value: T) => void;
}

/** One of a few, side by side. */
export function Seg<T extends string>({ label, value, choices, onChoose }: Props<T>) {
  return (
    <div role="group" aria-label={label} className="inline-flex gap-px rounded-box border border-line bg-sunken p-0.5">
      {choices.map((one) => (
        <button
          key={one.value}
          type="button"
          aria-pressed={one.value === value}
          onClick={() => onChoose(one.value)}
          className={cx(
            "inline-flex h-6 items-center gap-1 rounded-chip px-2 whitespace-nowrap max-tab:h-8",
            one.value === value ? "bg-raised font-mid text-ink ring-1 ring-line-2" : "text-ink-2 hover:text-ink",
          )}
        >
          {one.icon && <Icon name={one.icon} small className={one.tone} />}
          {one.text}
          {one.count !== undefined && <span className="text-ink-3 tabular-nums">{one.count}</span>}
        </button>
      ))}
    </div>
  );
}
