import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Schema } from "../../../api/client";
import { inert } from "../../../lib/words";
import { Button } from "../../../ui/Button";
import { Icon } from "../../../ui/Icon";
import { TextArea } from "../../../ui/TextArea";
import type { Item } from "../inbox/items";
import { Acts, Title, Who } from "../inbox/parts";
import { ActForm } from "./ActForm";
import { Where } from "./Where";

interface Props {
  item: Item;
  task: Schema<"Task">;
  acting: boolean;
  onVerdict: (accept: boolean, comment: string) => void;
}

const words = {
  "checkpoint:verify": { yes: "Accept", no: "Send back with the note", will: "Accepted, it is checked and merged", ask: "What is to be done otherwise" },
  "checkpoint:action": { yes: "It is done", no: "Cannot be done", will: "What depends on it goes on", ask: "A note, for what comes after it" },
  "checkpoint:decision": { yes: "Decide", no: "Do not decide", will: "What depends on it reads your words", ask: "What you decide" },
};

/** Says of a task that it is done, or sends it back with a note. */
export function VerdictForm({ item, task, acting, onVerdict }: Props) {
  const [note, setNote] = useState("");
  const said = words[task.type as keyof typeof words] ?? words["checkpoint:action"];
  const decides = task.type === "checkpoint:decision";
  const empty = note.trim() === "";
  return (
    <ActForm onSubmit={() => !(decides && empty) && onVerdict(true, note.trim())}>
      <Who item={item} />
      <Title>{inert(task.name)}</Title>
      {task.body && <p className="line-clamp-4 max-w-[64ch] whitespace-pre-line text-ink-2">{inert(task.body)}</p>}
      {task.summary && <p className="line-clamp-3 max-w-[64ch] text-ink-2">{inert(task.summary)}</p>}
      {(task.checks ?? []).length > 0 && (
        <ul className="text-12 text-ink-2">
          {task.checks?.map((check) => (
            <li key={check} className="flex min-h-6 items-center gap-2"><Icon name="u-ok" small className="text-ink-3" />{inert(check)}</li>
          ))}
        </ul>
      )}
      {task.type === "checkpoint:verify" && <Where item={item} />}
      <TextArea label="Note" placeholder={said.ask} rows={1} value={note} onText={setNote} data-own className="field-sizing-content max-h-32 resize-none" />
      <Acts note={said.will}>
        <Button type="submit" look="primary" keys="Enter" data-accept acting={acting} disabled={decides && empty}>{said.yes}</Button>
        <Button data-dismiss disabled={acting || empty} title={empty ? "Say in a note what is missing" : undefined} onClick={() => onVerdict(false, note.trim())}>{said.no}</Button>
        {task.type === "checkpoint:verify" && (
          <Link to="/review/$noun/$ref" params={{ noun: "task", ref: task.id }} className="inline-flex h-(--control) items-center rounded-box px-2.5 font-mid text-ink-2 hover:bg-hover hover:text-ink">
            Read the diff
          </Link>
        )}
      </Acts>
    </ActForm>
  );
}
