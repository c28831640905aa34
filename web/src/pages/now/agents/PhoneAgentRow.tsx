import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { cx } from "../../../lib/cx";
import { dollars, oneLine } from "../../../lib/words";
import { Icon } from "../../../ui/Icon";
import type { RowProps } from "./AgentRow";
import { PlanFact } from "./Facts";
import { ThisSecond } from "./ThisSecond";
import { useMark } from "./useMark";

/** One agent in three lines. */
export const PhoneAgentRow = memo(function PhoneAgentRow({ agent, index, selected, leaving, reachable: _, chosen: _chosen, onSelect: _select, onFocus, ...around }: RowProps) {
  const mark = useMark(agent);
  return (
    <div
      role="row"
      aria-rowindex={index}
      aria-selected={selected}
      data-agent={agent.id}
      className={cx("relative grid h-full grid-cols-[1rem_minmax(0,1fr)_auto] content-center gap-x-2 gap-y-px border-b border-line/60 px-4 tabular-nums", selected && "bg-select", leaving && "opacity-50")}
    >
      <Icon name={mark.icon} className={cx("mt-0.5", mark.tone)} />
      <span role="rowheader" className="flex min-w-0 items-baseline gap-2">
        <Link to="/agents/$name" params={{ name: agent.name }} onFocus={() => onFocus(agent.id)} className="truncate font-mid after:absolute after:inset-0">
          {agent.name}
        </Link>
        <span className={cx("flex-none text-12", mark.text)}>{mark.word}</span>
      </span>
      <span role="gridcell" className="text-right text-12">{agent.costUsd > 0 && dollars(agent.costUsd)}</span>
      <span role="gridcell" className="col-span-2 col-start-2 truncate text-ink-2">{oneLine(agent.title)}</span>
      <span role="gridcell" className="col-start-2 min-w-0"><ThisSecond agent={agent} {...around} /></span>
      <span role="gridcell"><PlanFact agent={agent} /></span>
    </div>
  );
});
