import { Store, useStore } from "../lib/store";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";

interface Notice {
  id: number;
  text: string;
  bad: boolean;
  undo?: () => void;
}

/** How long something can be undone. */
const UNDO = 8000;
let last = 0;
const notices = new Store<Notice[]>([]);

function show(notice: Omit<Notice, "id">): void {
  const id = ++last;
  notices.set([...notices.get().slice(-2), { ...notice, id }]);
  setTimeout(() => close(id), UNDO);
}

function close(id: number): void {
  notices.set(notices.get().filter((one) => one.id !== id));
}

/** Says what was done and is not to be seen on the page, and how it is undone. */
export function say(text: string, undo?: () => void): void {
  show(undo ? { text, bad: false, undo } : { text, bad: false });
}

/** Says what could not be done. */
export function sayFailed(text: string): void {
  show({ text, bad: true });
}

/** The notices, above the status bar. */
export function Notices() {
  const all = useStore(notices);
  return (
    <div role="status" aria-live="polite" className="pointer-events-none fixed inset-x-0 bottom-10 z-20 grid justify-items-center gap-2 px-4 max-tab:bottom-18">
      {all.map((one) => (
        <div key={one.id} className="pointer-events-auto flex max-w-152 animate-enter items-center gap-3 rounded-dialog bg-raised px-3 py-1.5 shadow-pop">
          <Icon name={one.bad ? "s-error" : "u-ok"} className={one.bad ? "text-fail" : "text-ink-3"} />
          <span className="min-w-0 break-words">{one.text}</span>
          {one.undo && (
            <Button
              onClick={() => {
                one.undo?.();
                close(one.id);
              }}
            >
              Undo
            </Button>
          )}
          <Button look="quiet" icon="u-x" aria-label="Close" onClick={() => close(one.id)} />
        </div>
      ))}
    </div>
  );
}
