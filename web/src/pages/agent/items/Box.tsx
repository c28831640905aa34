import type { ReactNode } from "react";
import { cx } from "../../../lib/cx";

interface Props {
  head: ReactNode;
  tone?: "need" | "fail" | "held";
  children?: ReactNode;
}

const borders = { need: "border-need/45", fail: "border-fail/45", held: "border-held/45" };
const grounds = { need: "bg-need-bg", fail: "bg-fail-bg", held: "bg-held-bg" };

/** A thing that is quoted: a change, a plan, a question, an error. */
export function Box({ head, tone, children }: Props) {
  return (
    <div className={cx("my-1 overflow-hidden rounded-box border", tone ? borders[tone] : "border-line-2")}>
      <div className={cx("flex min-h-7.5 items-center gap-2 px-3 py-1 text-12", tone ? grounds[tone] : "bg-sunken text-ink-2", children !== undefined && children !== null && "border-b border-line")}>{head}</div>
      {children}
    </div>
  );
}
