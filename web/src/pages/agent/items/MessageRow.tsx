import type { Schema } from "../../../api/client";
import { firstLine } from "../../../lib/firstLine";
import { Markdown } from "../../../ui/Markdown";
import { promptOf } from "../prompt";
import { Fold } from "./Fold";
import { Line } from "./Line";
import { Output } from "./Output";

interface Props {
  message: Schema<"Message">;
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** A text to the agent. What a person wrote has a ground; what cw told it is a line. */
export function MessageRow({ message, open, onOpen }: Props) {
  if (message.origin !== "cw") {
    const note = message.runId === undefined ? "Waits for its next run" : message.origin === "agent" ? "Written by another agent" : "";
    return <Words at={message.createdAt} text={message.body} note={note} />;
  }
  const { task, about } = promptOf(message.body);
  const head = (
    <>
      <span className="flex-none">{task === "" ? "cw told it" : "The whole prompt"}</span>
      <span className="min-w-0 flex-1 truncate text-ink-3">{task === "" ? about || firstLine(message.body) : ""}</span>
    </>
  );
  return (
    <>
      {task !== "" && <Words at={message.createdAt} text={task} note="" />}
      <Line at={task === "" ? message.createdAt : ""} icon="u-note">
        <Fold open={open} onOpen={onOpen} head={head}>{() => <Output text={message.body} label="Prompt" />}</Fold>
      </Line>
    </>
  );
}

function Words({ at, text, note }: { at: string; text: string; note: string }) {
  return (
    <Line at={at} icon="u-msg" look="words">
      <div className="-my-2 max-w-[68ch] rounded-box bg-sunken px-3 py-2 text-14">
        <Markdown text={text} />
        {note !== "" && <p className="mt-1 text-12 text-ink-3">{note}</p>}
      </div>
    </Line>
  );
}
