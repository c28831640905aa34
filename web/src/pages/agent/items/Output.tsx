import { useState } from "react";
import { grouped, inert } from "../../../lib/words";
import { Button } from "../../../ui/Button";

/** What is shown of a long text before somebody asks for all of it. */
const LINES = 40;
const CHARACTERS = 8000;

/** The output of a tool, or its input. */
export function Output({ text, label, tail }: { text: string; label: string; tail?: boolean }) {
  const [all, setAll] = useState(false);
  const clean = inert(text).replace(/\n$/, "");
  const short = all ? clean : shortened(clean, tail === true);
  return (
    <div className="my-1">
      <pre tabIndex={0} role="group" aria-label={label} className="max-h-120 overflow-auto whitespace-pre-wrap break-words rounded-box border border-line bg-sunken px-3 py-2 text-12 text-ink-2">
        {short || " "}
      </pre>
      {short.length < clean.length && (
        <Button look="quiet" className="mt-1 text-12" onClick={() => setAll(true)}>
          Show all {grouped(clean.split("\n").length)} lines
        </Button>
      )}
    </div>
  );
}

function shortened(text: string, tail: boolean): string {
  const lines = text.split("\n");
  const kept = (tail ? lines.slice(-LINES) : lines.slice(0, LINES)).join("\n");
  return tail ? kept.slice(-CHARACTERS) : kept.slice(0, CHARACTERS);
}
