import { useState } from "react";
import { Button } from "./Button";

/** A command to type elsewhere, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(() => setCopied(true));
  };
  return (
    <div className="flex min-h-9 items-center gap-2 rounded-box border border-line bg-sunken py-1 pr-1 pl-3 font-mono text-13">
      <span aria-hidden="true" className="text-ink-3 select-none">$</span>
      <span className="min-w-0 flex-1 break-words">{text}</span>
      <Button look="quiet" icon={copied ? "u-ok" : "u-copy"} aria-label={copied ? "Copied" : `Copy ${text}`} onClick={copy} />
    </div>
  );
}
