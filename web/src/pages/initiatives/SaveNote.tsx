import { wordsOf } from "../../api/problem";
import { useStore } from "../../lib/store";
import { clockTime } from "../../lib/words";
import { Button } from "../../ui/Button";
import type { Autosave } from "./autosave";

/** Whether what is written is stored. */
export function SaveNote<T>({ autosave }: { autosave: Autosave<T> }) {
  const state = useStore(autosave.state);
  switch (state.kind) {
    case "saved":
      return state.at === null ? null : <span>Saved {clockTime(new Date(state.at).toISOString())}</span>;
    case "changed":
    case "saving":
      return <span>Saving</span>;
    case "kept":
      return <span className="text-need">Kept in this browser, sent when the daemon is back</span>;
    case "failed":
      return (
        <span className="flex items-center gap-2 text-fail">
          Not saved: {wordsOf(state.error)}
          <Button onClick={() => void autosave.flush()}>Try again</Button>
        </span>
      );
    case "conflict":
      return <span className="text-need">Not saved</span>;
  }
}
