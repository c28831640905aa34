import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { cx } from "../../../lib/cx";
import { dollars, oneLine } from "../../../lib/words";
import { Icon } from "../../../ui/Icon";
import { columns } from "./columns";
import { ChangesFact, PlanFact, TimeFact } from "./Facts";
import { accountOf, type Agent } from "./rows";
import { ThisSecond } from "./ThisSecond";
import type { Around } from "./thisSecond";
import { useMark } from "./useMark";

export interface RowProps extends Omit<Around, "activity"> {
  agent: Agent;
  /** Its place among all rows, from 1. */
  index: number;
  selected: boolean;
  /** The inbox shows what it waits for. */
  chosen: boolean;
  /** The one row that Tab leads to. */
  reachable: boolean;
  /** It left the filter and goes soon. */
  leaving: boolean;
  onSelect: (id: string) => void;
  onFocus: (id: string) => void;
}

/** One agent in one line. Its name leads to its page; the mark becomes a box to select it. */
export const AgentRow = memo(function AgentRow({ agent, index, selected, chosen, reachable, leaving, onSelect, onFocus, ...around }: RowProps) {
  const mark = useMark(agent);
  const rest = agent.status === "pending" || agent.status === "stopped";
  return (
    <div
      role="row"
      aria-rowindex={index}
      aria-selected={selected}
      data-agent={agent.id}
      data-focus
      className={cx(
        columns,
        "group relative h-(--row) border-b border-line/60 text-12 tabular-nums focus-within:shadow-[inset_2px_0_0_var(--color-work)] hover:bg-hover",
        (selected || chosen) && "bg-select hover:bg-select",
        rest && "text-ink-3",
        leaving && "opacity-50",
      )}
    >
      <span role="gridcell" className="relative z-1 grid size-4 place-items-center">
        <Icon name={mark.icon} className={cx(mark.tone, "pointer-events-none col-start-1 row-start-1 group-hover:opacity-0", selected && "opacity-0")} />
        <input
          type="checkbox"
          tabIndex={-1}
          checked={selected}
          aria-label={`Select ${agent.name}`}
          onChange={() => onSelect(agent.id)}
          className={cx("col-start-1 row-start-1 m-0 size-3.5 accent-(--color-work) group-hover:opacity-100 focus-visible:opacity-100", !selected && "opacity-0")}
        />
      </span>
      <span role="gridcell" className={cx("truncate", mark.text)}>{mark.word}</span>
      <span role="rowheader" className="truncate text-13 font-mid">
        <Link
          to="/agents/$name"
          params={{ name: agent.name }}
          tabIndex={reachable ? 0 : -1}
          onFocus={() => onFocus(agent.id)}
          className="outline-none after:absolute after:inset-0"
        >
          {agent.name}
        </Link>
      </span>
      <span role="gridcell" className={cx("truncate text-13", rest ? "text-ink-3" : "text-ink-2")} title={oneLine(agent.title)}>{oneLine(agent.title)}</span>
      <span role="gridcell" className="min-w-0"><ThisSecond agent={agent} {...around} /></span>
      <span role="gridcell"><PlanFact agent={agent} /></span>
      <span role="gridcell" className="text-right whitespace-nowrap"><TimeFact agent={agent} /></span>
      <span role="gridcell" className="text-right">{agent.costUsd > 0 && dollars(agent.costUsd)}</span>
      <span role="gridcell" className="hidden truncate text-ink-2 desk:block" title={accountOf(agent)}>{accountOf(agent)}</span>
      <span role="gridcell" className="hidden text-ink-3 desk:block"><ChangesFact agent={agent} /></span>
    </div>
  );
});
