import type { ReactNode } from "react";
import { clockTime, exactTime } from "../../../lib/words";
import { cx } from "../../../lib/cx";
import { Icon } from "../../../ui/Icon";

interface Props {
  at: string;
  icon: string;
  tone?: string;
  /** Words of the agent stand larger; boxes have a head that the time stands beside. */
  look?: "words" | "box";
  /** Of a sub-agent. */
  inside?: boolean;
  children: ReactNode;
}

/** One entry of the stream: when, a shape for what, and the thing itself. */
export function Line({ at, icon, tone, look, inside, children }: Props) {
  return (
    <div className={cx("grid grid-cols-[3.25rem_1rem_minmax(0,1fr)] gap-x-2 max-tab:grid-cols-[1rem_minmax(0,1fr)]", look === "words" ? "py-2" : "py-0.75", inside && "ml-6 border-l-2 border-line pl-2")}>
      {at === "" ? (
        <span className="max-tab:hidden" />
      ) : (
        <time dateTime={at} title={exactTime(at)} className={cx("text-right text-11 text-ink-3 max-tab:hidden", look === "box" ? "mt-2.25" : "mt-0.5")}>
          {clockTime(at)}
        </time>
      )}
      {icon === "" ? <span /> : <Icon name={icon} className={cx(tone ?? "text-ink-3", look === "box" ? "mt-2.25" : look === "words" ? "mt-0.5" : "mt-0.5 max-tab:mt-2.5")} />}
      <div className={cx("min-w-0", look === undefined && "max-tab:content-center")}>{children}</div>
    </div>
  );
}
