import { count } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";

interface Props {
  name: string;
  uncommitted: string[];
  onStop: (now: boolean) => void;
  onClose: () => void;
}

/** Asks before an agent is stopped whose work is not committed. */
export function StopDialog({ name, uncommitted, onStop, onClose }: Props) {
  return (
    <Dialog title={`Stop ${name}?`} onClose={onClose}>
      <p className="text-ink-2">
        {count(uncommitted.length, "file is", "files are")} not committed. Nothing is lost: the worktree stays as it is, and a resume goes on in it.
      </p>
      <ul className="max-h-40 overflow-auto">
        {uncommitted.slice(0, 100).map((path) => <li key={path} className="truncate"><code>{path}</code></li>)}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={onClose}>Let it work</Button>
        <Button onClick={() => onStop(true)}>Kill at once</Button>
        <Button look="primary" onClick={() => onStop(false)}>Stop</Button>
      </div>
    </Dialog>
  );
}
