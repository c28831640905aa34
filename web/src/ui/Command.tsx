import { useEffect, useState } from "react";
import { Button } from "./Button";

/** How long it is shown that it was copied, in milliseconds. */
const COPIED = 2000;

/** A command to type elsewhere, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED);
    return () => clearTimeout(timer);
  }, [copied]);
  // Over plain HTTP of another machine there is no clipboard: the text can be chosen by hand.
  const copy = () => void navigator.clipboard?.writeText(text).then(() => setCopied(true), () => undefined);
  return (
    <div className="flex min-h-9 items-center gap-2 rounded-box border border-line bg-sunken py-1 pr-1 pl-3 font-mono text-13">
      <span aria-hidden="true" className="text-ink-3 select-none">$</span>
      <span className="min-w-0 flex-1 break-words">{text}</span>
      <Button look="quiet" icon={copied ? "u-ok" : "u-copy"} aria-label={copied ? "Copied" : `Copy ${text}`} onClick={copy} />
    </div>
  );
}
