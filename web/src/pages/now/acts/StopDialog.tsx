import { count } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import type { Agent } from "../agents/rows";
import { named } from "./calls";

interface Props {
  agents: Agent[];
  /** Files that are not committed. */
  files: number;
  onStop: () => void;
  onClose: () => void;
}

/** Asked before agents are stopped in the middle of their work. */
export function StopDialog({ agents, files, onStop, onClose }: Props) {
  const one = agents.length === 1;
  return (
    <Dialog title={`Stop ${named(agents)}?`} onClose={onClose}>
      <p className="text-ink-2">
        {count(files, "file is", "files are")} not committed. {one ? "They stay in its worktree, and it can be resumed." : "They stay in their worktrees, and all can be resumed."}
      </p>
      <div className="flex gap-2">
        <Button
          look="primary"
          autoFocus
          onClick={() => {
            onStop();
            onClose();
          }}
        >
          Stop, keep the files
        </Button>
        <Button look="quiet" onClick={onClose}>Let {one ? "it" : "them"} work</Button>
      </div>
    </Dialog>
  );
}
