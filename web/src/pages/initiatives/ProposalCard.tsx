import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { proposalQuery, type Proposal, type ProposalView } from "../../api/initiativeQueries";
import { useCw } from "../../app/cw";
import { count, inert } from "../../lib/words";
import { Ago } from "../../ui/Ago";
import { Button } from "../../ui/Button";
import { Failure } from "../../ui/Failure";
import { Icon } from "../../ui/Icon";
import { DiffLines } from "./DiffLines";
import { rowsOf, titleOf, unifiedRows } from "./proposalRows";

/** The side that is taken where a page and a suggestion both changed the same. */
export type Take = "suggested" | "current";

interface Props {
  proposal: Proposal;
  stamp: string;
  names: ReadonlyMap<string, string>;
  /** The one that the keys are for. */
  first: boolean;
  active: boolean;
  acting: "accept" | "dismiss" | null;
  /** Something is being decided: nothing else can be meanwhile. */
  busy: boolean;
  dismissing: boolean;
  onFocus: () => void;
  onAccept: () => void;
  /** Takes one side where both changed the same, of what is shown. */
  onTake: (take: Take, seen: string) => void;
  onDismissing: (on: boolean) => void;
  onDismiss: (note: string) => void;
}

/** One suggestion: what it changes, why, and what becomes of it. */
export function ProposalCard({ proposal, stamp, names, first, active, acting, busy, dismissing, onFocus, onAccept, onTake, onDismissing, onDismiss }: Props) {
  const { client } = useCw();
  const whole = useQuery(proposalQuery(client, proposal.id, stamp));
  const view = whole.data;
  return (
    <article aria-label={titleOf(proposal)} tabIndex={-1} aria-current={first || undefined} onFocus={onFocus} onMouseDown={onFocus} className="border-t border-line px-4 pt-2 pb-3 focus-visible:outline-offset-[-2px]">
      <header className="flex min-h-7 items-center gap-2">
        <Icon name="s-open" small className="text-need-mark" />
        <h3 className="min-w-0 flex-1 truncate font-mid" title={titleOf(proposal)}>{titleOf(proposal)}</h3>
        <span className="text-12 whitespace-nowrap text-ink-3">
          {view?.agent} · <Ago at={proposal.createdAt} />
        </span>
      </header>
      {proposal.reason && <p className="mb-1.5 text-12 text-ink-2">{inert(proposal.reason)}</p>}
      {view?.changed && <Changed view={view} />}
      {whole.error && <Failure what="The difference could not be read" error={whole.error} onRetry={() => void whole.refetch()} />}
      {view && <Rows view={view} names={names} />}
      {active && (dismissing ? <Dismissal acting={acting === "dismiss"} busy={busy} onCancel={() => onDismissing(false)} onDismiss={onDismiss} /> : (
        <div className="mt-2 flex items-center gap-2">
          {view?.conflicts ? <Sides view={view} acting={acting === "accept"} busy={busy} onTake={onTake} /> : (
            <Button look={first ? "primary" : "plain"} keys={first ? "y" : undefined} acting={acting === "accept"} disabled={busy} onClick={onAccept}>Accept</Button>
          )}
          <Button look={first ? "plain" : "quiet"} keys={first ? "d" : undefined} acting={acting === "dismiss"} disabled={busy} onClick={() => onDismissing(true)}>Dismiss</Button>
        </div>
      ))}
    </article>
  );
}

function Rows({ view, names }: { view: ProposalView; names: ReadonlyMap<string, string> }) {
  const rows = useMemo(() => rowsOf(view, names), [view, names]);
  if (rows.length === 0) return <p className="text-12 text-ink-3">{view.action === "create" ? "Nothing but its title." : "It says what is there already."}</p>;
  return <DiffLines rows={rows} />;
}

/** What somebody else changed since, and what accepting does with it. */
function Changed({ view }: { view: ProposalView }) {
  const theirs = useMemo(() => unifiedRows(view.theirs ?? ""), [view.theirs]);
  const merged = useMemo(() => (view.conflicts && view.merged ? unifiedRows(view.diff) : []), [view]);
  return (
    <div className="mb-2 grid gap-1.5 rounded-box bg-need-bg p-2">
      <p className="text-12 text-need">Changed since.{theirs.length > 0 && " This came in between:"}</p>
      {theirs.length > 0 && <DiffLines rows={theirs} />}
      {merged.length > 0 && <DiffLines rows={merged} />}
      <p className="text-12 text-ink-2">{outcomeOf(view)}</p>
    </div>
  );
}

function outcomeOf(view: ProposalView): string {
  if (!view.conflicts) return "Accepting keeps both changes.";
  if (view.merged) return `Both changed the same in ${count(view.conflicts, "place")}: choose what stays there. Everything else of both is kept.`;
  return canTake(view) ? "Accepting would write over that." : "It cannot be accepted any more: dismiss it, or let an agent suggest again.";
}

/** A change of something that is still there can be settled; another one cannot. */
function canTake(view: ProposalView): boolean {
  return view.action === "update" && Boolean(view.current);
}

/** The sides of a conflict. */
function Sides({ view, acting, busy, onTake }: { view: ProposalView; acting: boolean; busy: boolean; onTake: Props["onTake"] }) {
  if (!canTake(view)) return null;
  const take = (side: Take) => onTake(side, view.seen ?? "");
  return (
    <>
      <Button acting={acting} disabled={busy} onClick={() => take("suggested")}>Take the suggestion</Button>
      {view.merged && <Button disabled={busy} onClick={() => take("current")}>Keep the page</Button>}
    </>
  );
}

function Dismissal({ acting, busy, onCancel, onDismiss }: { acting: boolean; busy: boolean; onCancel: () => void; onDismiss: (note: string) => void }) {
  const [note, setNote] = useState("");
  return (
    <form
      className="mt-2 flex flex-wrap items-center gap-2"
      onSubmit={(event) => { event.preventDefault(); onDismiss(note.trim()); }}
      onKeyDown={(event) => { if (event.key === "Escape") onCancel(); }}
    >
      <input
        aria-label="Why it is dismissed; the next agent reads it"
        placeholder="Why? The next agent reads it"
        autoFocus
        ref={(input) => input?.focus()}
        value={note}
        onInput={(event) => setNote(event.currentTarget.value)}
        className="h-(--control) min-w-0 flex-1 rounded-box border border-line-2 bg-sunken px-2"
      />
      <Button type="submit" keys="Enter" acting={acting} disabled={busy}>Dismiss</Button>
      <Button look="quiet" onClick={onCancel}>Keep</Button>
    </form>
  );
}
