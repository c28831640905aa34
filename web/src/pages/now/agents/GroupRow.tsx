import { Link } from "@tanstack/react-router";
import { count, dollars } from "../../../lib/words";
import { Icon } from "../../../ui/Icon";
import type { Group } from "./rows";

interface Props {
  group: Group;
  index: number;
}

/** The head of an initiative's agents. */
export function GroupRow({ group, index }: Props) {
  const { initiative } = group;
  const projects = (initiative?.projects ?? []).map((project) => project.name).join(", ");
  return (
    <div role="row" aria-rowindex={index} className="flex h-full items-center border-b border-line bg-bg px-4 text-12 text-ink-2">
      <div role="gridcell" aria-colspan={10} className="flex min-w-0 flex-1 items-center gap-2 tabular-nums">
        <Icon name={initiative ? "u-init" : "u-agent"} small className={initiative ? "text-work" : "text-ink-3"} />
        {initiative ? (
          <Link to="/initiatives/$slug" params={{ slug: initiative.slug }} tabIndex={-1} className="truncate font-bold text-ink hover:underline">
            {initiative.name}
          </Link>
        ) : (
          <b className="font-bold text-ink">{group.id === "" ? "On their own" : "Of an archived initiative"}</b>
        )}
        <span className="flex-none">{count(group.agents.length, "agent")}</span>
        {!!initiative?.progress?.tasks && <span className="flex-none max-tab:hidden">{initiative.progress.done} of {count(initiative.progress.tasks, "task")}</span>}
        {projects !== "" && <span className="truncate text-ink-3 max-desk:hidden">{projects}</span>}
        <span className="ml-auto flex-none">{group.costUsd > 0 && dollars(group.costUsd)}</span>
      </div>
    </div>
  );
}
