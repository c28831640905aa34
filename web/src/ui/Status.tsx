import { cx } from "../lib/cx";
import { Icon } from "./Icon";
import type { Mark } from "./status";

/** A status: shape, word, colour. */
export function Status({ mark, className }: { mark: Mark; className?: string }) {
  return (
    <span className={cx("inline-flex items-center gap-1.5 whitespace-nowrap", className)}>
      <Icon name={mark.icon} className={mark.tone} />
      <span className={mark.text}>{mark.word}</span>
    </span>
  );
}
