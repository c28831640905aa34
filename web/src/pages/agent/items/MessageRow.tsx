import type { Schema } from "../../../api/client";
import { firstLine } from "../../../lib/firstLine";
import { Markdown } from "../../../ui/Markdown";
import { Fold } from "./Fold";
import { Line } from "./Line";

interface Props {
  message: Schema<"Message">;
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** A text to the agent. What a person wrote has a ground; what cw told it is a line. */
export function MessageRow({ message, open, onOpen }: Props) {
  if (message.origin === "cw") {
    const head = (
      <>
        <span className="flex-none">cw told it</span>
        <span className="min-w-0 flex-1 truncate text-ink-3">{firstLine(message.body)}</span>
      </>
    );
    return (
      <Line at={message.createdAt} icon="u-note">
        <Fold open={open} onOpen={onOpen} head={head}>{() => <div className="max-w-[68ch] py-1 text-ink-2"><Markdown text={message.body} /></div>}</Fold>
      </Line>
    );
  }
  const waits = message.runId === undefined;
  return (
    <Line at={message.createdAt} icon="u-msg" look="words">
      <div className="-my-2 max-w-[68ch] rounded-box bg-sunken px-3 py-2 text-14">
        <Markdown text={message.body} />
        {waits && <p className="mt-1 text-12 text-ink-3">Waits for its next run</p>}
        {message.origin === "agent" && <p className="mt-1 text-12 text-ink-3">Written by another agent</p>}
      </div>
    </Line>
  );
}
