import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Problem, wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { say, sayFailed } from "../../app/notices";
import { inert } from "../../lib/words";
import { useMutation } from "../../lib/useMutation";
import { Button } from "../../ui/Button";
import { Command } from "../../ui/Command";
import { Dialog } from "../../ui/Dialog";
import { landingQuery } from "./reviewQueries";
import { landingText } from "./gate";

/** The gate of an initiative: what landing would do, and the two ways out. */
export function InitiativeGate({ slug }: { slug: string }) {
  const { client } = useCw();
  const [unfinished, setUnfinished] = useState(false);
  const [asking, setAsking] = useState<"land" | "request" | null>(null);
  const dry = useQuery(landingQuery(client, slug, unfinished));
  const something = (dry.data ?? []).some((one) => one.how !== "up-to-date");
  const land = useMutation({
    mutationFn: () => client.post("/v1/initiatives/{initiative}/land", { path: { initiative: slug }, body: { unfinished } }),
    onSuccess: () => say("Landed"),
    onError: (error) => sayFailed(needsMore(error, `cw merge ${slug}`)),
  });
  useKeys("Gate", something ? [{ key: "shift+m", does: "land", hint: true, run: () => setAsking("land") }] : []);
  const notDone = dry.error instanceof Problem && !unfinished;
  return (
    <div className="grid gap-2">
      {dry.data?.map((one) => (
        <p key={one.projectId} className="max-w-[110ch] text-ink-2">
          {inert(landingText(one))} {one.note && <span>{inert(one.note)}</span>}
        </p>
      ))}
      {dry.error && <p className="max-w-[110ch] text-ink-2">{wordsOf(dry.error)}</p>}
      <div className="flex flex-wrap items-center gap-2">
        {notDone && <Button onClick={() => setUnfinished(true)}>Land what is merged so far</Button>}
        {something && <Button onClick={() => setAsking("request")}>Pull request</Button>}
        {something && <Button look="primary" icon="s-merging" keys="shift+m" acting={land.isPending} onClick={() => setAsking("land")}>Land</Button>}
      </div>
      {asking === "land" && (
        <Dialog title="Land this initiative?" onClose={() => setAsking(null)}>
          {dry.data?.map((one) => <p key={one.projectId}>{inert(landingText(one))}</p>)}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsking(null)}>Not now</Button>
            <Button
              look="primary"
              onClick={() => {
                setAsking(null);
                land.mutate();
              }}
            >
              Land
            </Button>
          </div>
        </Dialog>
      )}
      {asking === "request" && <PullRequest slug={slug} onClose={() => setAsking(null)} />}
    </div>
  );
}

/** Asks for title and draft; the text is made of the goal and the summaries. */
function PullRequest({ slug, onClose }: { slug: string; onClose: () => void }) {
  const { client } = useCw();
  const [title, setTitle] = useState("");
  const [draft, setDraft] = useState(false);
  const open = useMutation({
    mutationFn: () => client.post("/v1/initiatives/{initiative}/pull-request", { path: { initiative: slug }, body: { draft, ...(title === "" ? {} : { title }) } }),
  });
  return (
    <Dialog title="Open a pull request" onClose={onClose}>
      <p className="text-ink-2">The branch of the initiative is pushed, and a pull request is opened at the forge of its remote. Nothing is merged.</p>
      <label className="grid gap-1">
        Title
        <input value={title} placeholder="The initiative's name" onInput={(event) => setTitle(event.currentTarget.value)} className="h-(--control) rounded-box border border-line-2 bg-sunken px-2" />
      </label>
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={draft} onChange={(event) => setDraft(event.currentTarget.checked)} />
        As a draft
      </label>
      {open.error && (
        <div role="alert" className="grid gap-2 rounded-box border border-fail/45 bg-fail-bg px-3 py-2">
          <p>{wordsOf(open.error)}</p>
          <p>In a terminal, with your own logins:</p>
          <Command text={`cw pr create ${slug}`} />
        </div>
      )}
      {open.data && (
        <p>
          {open.data.existed ? "It was open already: " : "Opened: "}
          {/^https?:/.test(open.data.url) ? <a href={open.data.url} rel="noopener noreferrer" target="_blank" className="underline">{open.data.url}</a> : inert(open.data.url)}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{open.data ? "Close" : "Cancel"}</Button>
        {!open.data && <Button look="primary" acting={open.isPending} onClick={() => open.mutate()}>Push and open</Button>}
      </div>
    </Dialog>
  );
}

/** A session that may not do it is told what does. */
function needsMore(error: unknown, command: string): string {
  return error instanceof Problem && error.status === 403 ? `${error.message} In a terminal: ${command}` : wordsOf(error);
}
