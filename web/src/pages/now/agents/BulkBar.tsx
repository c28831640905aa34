import { count } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import type { AgentActs } from "../acts/useAgentActs";
import { canRemove, canResume, canStop } from "../acts/calls";
import type { Agent } from "./rows";

/** What can be done with all selected agents at once, in the place of the filters. */
export function BulkBar({ agents, acts, onClear }: { agents: Agent[]; acts: AgentActs; onClear: () => void }) {
  return (
    <div role="toolbar" aria-label="Selected agents" className="sticky top-0 z-4 -mt-11 flex h-11 items-center gap-2 bg-panel px-4 max-tab:top-12 max-tab:overflow-x-auto">
      <b className="flex-none font-mid tabular-nums">{count(agents.length, "agent")} selected</b>
      <Button icon="u-msg" keys="m" onClick={() => acts.message(agents)}>Message</Button>
      <Button icon="u-stop" keys="s" disabled={!agents.some(canStop)} onClick={() => acts.stop(agents)}>Stop</Button>
      <Button icon="u-follow" disabled={!agents.some(canResume)} onClick={() => acts.resume(agents)}>Resume</Button>
      <Button icon="u-x" disabled={!agents.some(canRemove)} onClick={() => acts.remove(agents)}>Remove</Button>
      <span className="min-w-0 truncate text-12 text-ink-3 max-desk:hidden">Those that cannot are left as they are. Removed ones can be restored.</span>
      <Button look="quiet" keys="Escape" className="ml-auto" onClick={onClear}>Select none</Button>
    </div>
  );
}
