import type { Schema } from "../api/client";
import { inert } from "../lib/words";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { MANY_LINES } from "./entries";
import { PlusMinus } from "./PlusMinus";

interface Props {
  file: Schema<"FileChange">;
  open: boolean;
  viewed: boolean;
  onOpen: () => void;
  onViewed: () => void;
}

/** The head of a file: its path, its size, whether it was looked at. */
export function FileHead({ file, open, viewed, onOpen, onViewed }: Props) {
  const big = file.additions + file.deletions > MANY_LINES;
  return (
    <div className="flex h-9 items-center gap-2 border-b border-line bg-bg px-3 font-sans text-12">
      <button type="button" aria-expanded={open} onClick={onOpen} className="flex min-w-0 items-center gap-2">
        <Icon name={open ? "u-down" : "u-right"} small className="text-ink-3" />
        <code className="truncate font-mid" title={inert(file.path)}>
          {file.from && <span className="text-ink-3">{inert(file.from)} → </span>}
          {inert(file.path)}
        </code>
        <PlusMinus additions={file.additions} deletions={file.deletions} />
        {big && !open && <span className="text-ink-3">many lines, open to see them</span>}
      </button>
      <Button look="quiet" className="ml-auto" aria-pressed={viewed} onClick={onViewed} icon={viewed ? "s-idle" : undefined}>
        {viewed ? "Viewed" : "Mark viewed"}
      </Button>
    </div>
  );
}
