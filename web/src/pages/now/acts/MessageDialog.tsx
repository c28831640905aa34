import { useEffect, useRef, useState } from "react";
import { useCw } from "../../../app/cw";
import { say, sayFailed } from "../../../app/notices";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { TextArea } from "../../../ui/TextArea";
import type { Agent } from "../agents/rows";
import { effectOf, failures, named, tell, toEach } from "./calls";

/** A text to one or more agents, with what becomes of it beside the button. */
export function MessageDialog({ agents, onClose }: { agents: Agent[]; onClose: () => void }) {
  const { client } = useCw();
  // Who does not have it yet: a second try tells nobody twice.
  const [to, setTo] = useState(agents);
  const closed = useRef(false);
  useEffect(() => () => void (closed.current = true), []);
  const [text, setText] = useState("");
  const [acting, setActing] = useState(false);
  const [failed, setFailed] = useState("");
  const send = async () => {
    if (text.trim() === "" || acting) return;
    setActing(true);
    const outcome = await toEach(to, (agent) => tell(client, agent, text));
    if (outcome.done.length > 0) say(`Sent to ${named(outcome.done)}`);
    if (closed.current) return outcome.failed.length > 0 ? sayFailed(failures(outcome)) : undefined;
    if (outcome.failed.length === 0) return onClose();
    setActing(false);
    setTo(outcome.failed.map((one) => one.agent));
    setFailed(failures(outcome));
  };
  return (
    <Dialog title={`Message to ${named(to)}`} onClose={onClose}>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <TextArea label="Text" value={text} onText={setText} onEnter={() => void send()} autoFocus rows={4} />
        {failed !== "" && <p role="alert" className="text-fail">{failed}</p>}
        <div className="flex items-center gap-2">
          <Button type="submit" look="primary" acting={acting} disabled={text.trim() === ""} keys="mod+Enter">Send</Button>
          <Button look="quiet" onClick={onClose}>Cancel</Button>
          <span className="ml-auto text-right text-12 text-ink-3">{whatHappens(to)}</span>
        </div>
      </form>
    </Dialog>
  );
}

function whatHappens(agents: Agent[]): string {
  const queued = agents.filter((agent) => effectOf(agent) === "queued").length;
  if (agents.length === 1) return queued === 1 ? "Busy: sent when this run ends" : "It goes on with this text at once";
  if (queued === 0) return "They go on with this text at once";
  return queued === agents.length ? "Busy: sent when their runs end" : `${agents.length - queued} go on at once, ${queued} when their runs end`;
}
