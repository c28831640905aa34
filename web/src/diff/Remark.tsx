import { useEffect, useRef, useState } from "react";
import { cx } from "../lib/cx";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Tag } from "../ui/Tag";
import type { Comment } from "./comments";

interface Props {
  comment: Comment;
  /** Who gets it; "": nobody yet. */
  to: string;
  /** Its line stands in the right one of two columns. */
  right: boolean;
  /** What is being written, by the remark's id. */
  drafts: Map<string, string>;
  onEdit: (text: string) => void;
  onRemove: () => void;
}

/** A remark below its line. It says who gets it. */
export function Remark({ comment, to, right, drafts, onEdit, onRemove }: Props) {
  const [editing, setEditing] = useState(comment.text === "" || drafts.has(comment.id));
  const done = (text: string) => {
    drafts.delete(comment.id);
    if (text.trim() === "") return onRemove();
    if (text !== comment.text) onEdit(text);
    setEditing(false);
  };
  return (
    <div className={cx("border-y border-line bg-bg px-3 py-2 font-sans text-13", right && "pl-[calc(50%+0.75rem)]")}>
      <section aria-label={`Comment on line ${comment.line}`} className="max-w-160 overflow-hidden rounded-box border border-line-2 bg-panel">
        <header className="flex min-h-7.5 items-center gap-2 border-b border-line bg-sunken px-3 text-12 text-ink-2">
          <Icon name="u-note" small />
          <b className="font-mid text-ink">You</b>
          <span>line {comment.line}</span>
          <span className="ml-auto">{to !== "" && <Tag>goes to {to}</Tag>}</span>
        </header>
        {editing ? (
          <Writing text={drafts.get(comment.id) ?? comment.text} onText={(text) => drafts.set(comment.id, text)} onDone={done} onCancel={() => done(comment.text)} />
        ) : (
          <div className="flex items-start gap-2 px-3 py-2">
            <p className="min-w-0 flex-1 break-words whitespace-pre-wrap">{comment.text}</p>
            <Button look="quiet" onClick={() => setEditing(true)}>Edit</Button>
            <Button look="quiet" onClick={onRemove}>Remove</Button>
          </div>
        )}
      </section>
    </div>
  );
}

function Writing({ text, onText, onDone, onCancel }: { text: string; onText: (text: string) => void; onDone: (text: string) => void; onCancel: () => void }) {
  const [now, setNow] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []); // or what is typed would be keys of the page
  return (
    <form
      className="grid gap-2 px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(now);
      }}
    >
      <textarea
        ref={field}
        rows={3}
        aria-label="Comment"
        value={now}
        className="w-full resize-y rounded-box border border-line-2 bg-sunken px-2 py-1"
        onInput={(event) => {
          setNow(event.currentTarget.value);
          onText(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) onDone(now);
        }}
      />
      <div className="flex gap-2">
        <Button type="submit" look="primary">Keep</Button>
        <Button look="quiet" onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
