import { useState } from "react";
import { wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { say } from "../../app/notices";
import { promptOf, type Comment, type Comments } from "../../diff/comments";
import { useStore } from "../../lib/store";
import { useMutation } from "../../lib/useMutation";
import { count, inert } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";

interface Props {
  comments: Comments;
  head: string;
  /** Agents that may get them; the first is offered. */
  agents: string[];
}

/** Sends the remarks to an agent, after its text was shown. */
export function SendComments({ comments, head, agents }: Props) {
  const all = useStore(comments.all).filter((one) => one.text !== "");
  const [open, setOpen] = useState(false);
  useKeys("Comments", all.length > 0 ? [{ key: "mod+Enter", does: "send comments", hint: true, run: () => setOpen(true) }] : []);
  if (all.length === 0) return null;
  return (
    <>
      <Button keys="mod+Enter" onClick={() => setOpen(true)}>Send {count(all.length, "comment")}</Button>
      {open && <Sending comments={comments} all={all} head={head} agents={agents} onClose={() => setOpen(false)} />}
    </>
  );
}

interface SendingProps extends Props {
  all: Comment[];
  onClose: () => void;
}

function Sending({ comments, all, head, agents, onClose }: SendingProps) {
  const text = promptOf(all, head);
  const { client } = useCw();
  const [agent, setAgent] = useState(agents[0] ?? "");
  const send = useMutation({
    mutationFn: () => client.post("/v1/agents/{id}/messages", { path: { id: agent }, body: { text, whenBusy: "queue" } }),
    onSuccess: () => {
      comments.sent(all.map((one) => one.id));
      say(`Sent to ${agent}`);
      onClose();
    },
  });
  return (
    <Dialog title="Send your comments" onClose={onClose} wide>
      <label className="flex items-center gap-2">
        To
        {agents.length > 1 ? (
          <select value={agent} onChange={(event) => setAgent(event.currentTarget.value)} className="h-(--control) rounded-box border border-line-2 bg-sunken px-2">
            {agents.map((one) => <option key={one}>{one}</option>)}
          </select>
        ) : (
          <b className="font-mid">{agent === "" ? "nobody: no agent has worked on this" : agent}</b>
        )}
        <span className="text-ink-3">Busy: sent when its run ends. At rest: it starts a run with this.</span>
      </label>
      <pre className="max-h-80 overflow-auto rounded-box border border-line bg-sunken px-3 py-2 text-12 whitespace-pre-wrap">{inert(text)}</pre>
      {send.error && <p role="alert" className="text-fail">{wordsOf(send.error)}</p>}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Not now</Button>
        <Button look="primary" disabled={agent === ""} acting={send.isPending} onClick={() => send.mutate()}>Send</Button>
      </div>
    </Dialog>
  );
}
