import { useStore } from "../../lib/store";
import { inert } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import type { Autosave } from "./autosave";

interface Props<T> {
  autosave: Autosave<T>;
  /** What was written here, as text. */
  mine: () => string;
  textOf: (content: T) => string;
  onTheirs: (content: T) => void;
}

/** Two people, or a person and an agent, changed the page: both texts, and who decides. */
export function PageConflict<T>({ autosave, mine, textOf, onTheirs }: Props<T>) {
  const state = useStore(autosave.state);
  if (state.kind !== "conflict") return null;
  const take = () => {
    const theirs = autosave.takeTheirs();
    if (theirs !== null) onTheirs(theirs);
  };
  return (
    <section role="alert" className="my-2 grid gap-2 rounded-box border border-line bg-need-bg p-3">
      <p className="flex items-start gap-2">
        <Icon name="s-conflict" className="mt-0.5 text-need-mark" />
        <span>{state.theirs.by} changed this page while you wrote. Nothing is lost until you choose.</span>
      </p>
      <div className="grid grid-cols-2 gap-3 max-tab:grid-cols-1">
        <Side title="Yours, not saved" text={mine()} />
        <Side title={`Theirs, revision ${state.theirs.revision}`} text={textOf(state.theirs.content)} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => void autosave.keepMine()}>Keep mine</Button>
        <Button onClick={take}>Take theirs</Button>
        <span className="text-12 text-ink-2">The other text is replaced. Copy first what you want of it.</span>
      </div>
    </section>
  );
}

function Side({ title, text }: { title: string; text: string }) {
  return (
    <div className="min-w-0">
      <h3 className="text-11 font-mid text-ink-2">{title}</h3>
      <pre tabIndex={0} className="max-h-60 overflow-auto rounded-box bg-panel p-2 text-12 whitespace-pre-wrap">{inert(text)}</pre>
    </div>
  );
}
