import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type RefObject } from "react";
import type { Schema } from "../../api/client";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { isTyping } from "../../app/keys";
import { sayFailed } from "../../app/notices";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { sendingOf } from "./sending";

interface Props {
  agent: Schema<"AgentView">;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** What was written and not sent stays for as long as the tab is there. */
const draftKey = (id: string) => `cw.draft.${id}`;

function keep(id: string, text: string): void {
  if (text === "") sessionStorage.removeItem(draftKey(id));
  else sessionStorage.setItem(draftKey(id), text);
}

/** What was written on while the rest of it was being sent. */
function leftOver(text: string, sent: string): string {
  return text.startsWith(sent) ? text.slice(sent.length).trimStart() : text;
}

/** A text for the agent, and when it will have it. */
export function Composer({ agent, field }: Props) {
  const { client } = useCw();
  const queries = useQueryClient();
  const [text, setText] = useState(() => sessionStorage.getItem(draftKey(agent.id)) ?? "");
  const sending = sendingOf(agent);
  useEffect(() => keep(agent.id, text), [agent.id, text]);
  const send = useMutation({
    mutationFn: async (text: string) => {
      const path = { id: agent.id };
      if (sending.by === "resume") await client.post("/v1/agents/{id}/resume", { path, body: text.trim() === "" ? {} : { text } });
      else await client.post("/v1/agents/{id}/messages", { path, body: { text, whenBusy: "queue" } });
    },
    onSuccess: (_, sent) => {
      // Also when the page was left meanwhile: what was sent is no draft any more.
      keep(agent.id, leftOver(sessionStorage.getItem(draftKey(agent.id)) ?? "", sent));
      setText((now) => leftOver(now, sent));
    },
    onError: (error) => sayFailed(wordsOf(error)),
    onSettled: () => Promise.all(["agents", "messages"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });
  const ready = sending.by !== null && (text.trim() !== "" || sending.by === "resume");
  const go = () => {
    if (ready && !send.isPending) send.mutate(text);
  };
  return (
    <form
      className="flex-none px-4 pt-2 pb-3 max-tab:px-2 max-tab:pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <div className="mx-auto max-w-200 rounded-dialog border border-line-2 bg-panel py-2 pr-2 pl-3 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-work">
        <textarea
          ref={field}
          aria-label={`Message to ${agent.name}`}
          placeholder={sending.by === null ? sending.says : `Message ${agent.name}`}
          disabled={sending.by === null}
          rows={Math.min(10, text.split("\n").length)}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              go();
            }
            if (event.key === "Escape" && isTyping(event.target)) event.currentTarget.blur();
          }}
          className="block w-full resize-none bg-transparent outline-none!"
        />
        <div className="flex items-center gap-2 text-12 text-ink-3">
          <span className="min-w-0 flex-1">{sending.says}</span>
          <Button look="primary" type="submit" keys="mod+Enter" disabled={!ready} acting={send.isPending}>{text.trim() === "" && sending.by === "resume" ? "Resume" : sending.word}</Button>
        </div>
      </div>
    </form>
  );
}
