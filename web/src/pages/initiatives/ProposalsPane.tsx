import { useEffect, useMemo, useRef, useState } from "react";
import type { InitiativeView, Proposal } from "../../api/initiativeQueries";
import { Problem, wordsOf } from "../../api/problem";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { say, sayFailed } from "../../app/notices";
import { cx } from "../../lib/cx";
import { useMutation, useOneAtATime } from "../../lib/useMutation";
import { count } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Failure } from "../../ui/Failure";
import { ProposalCard, type Take } from "./ProposalCard";

interface Props {
  view: InitiativeView;
  open: Proposal[];
  error: unknown;
  className: string;
}

/** So many differences are read at once. */
const SHOWN = 20;

/** What agents suggest, oldest first, each to be accepted or dismissed. */
export function ProposalsPane({ view, open, error, className }: Props) {
  const [current, setCurrent] = useState("");
  const [dismissing, setDismissing] = useState("");
  const [shown, setShown] = useState(SHOWN);
  const names = useMemo(() => namesOf(view, open), [view, open]);
  const decide = useDecisions();
  const place = useRef(0);
  // Where one was that is decided, the next one is.
  const at = open.find((one) => one.id === current) ?? open[Math.min(place.current, open.length - 1)];
  place.current = at ? open.indexOf(at) : 0;
  const active = view.status === "active";
  const decided = useOneAtATime(decide);
  const accept = (ids: string[]) => decided({ accept: true, ids });
  const focus = useFocusKept(open);
  useKeys("Proposals", active && at ? [
    { key: "y", does: "accept", hint: true, run: () => accept([at.id]) },
    { key: "d", does: "dismiss", hint: true, run: () => setDismissing(at.id) },
    { key: "shift+y", does: "accept all", run: () => accept(open.map((one) => one.id)) },
  ] : []);
  return (
    <aside aria-label="Proposals" className={cx("min-h-0 overflow-auto", className)} {...focus}>
      <div className="flex h-9 items-center gap-2 px-4">
        <h2 tabIndex={-1} className="font-bold outline-none">Proposals</h2>
        <span className="text-ink-3 tabular-nums">{open.length === 0 ? "none open" : `${open.length} open`}</span>
        <span className="flex-1" />
        {active && open.length > 1 && (
          <Button keys="shift+y" acting={decide.isPending && (decide.variables?.ids.length ?? 0) > 1} disabled={decide.isPending} title="All or none: in the order in which they need each other" onClick={() => accept(open.map((one) => one.id))}>
            Accept all
          </Button>
        )}
      </div>
      {error !== null && error !== undefined && <Failure what="The proposals could not be read" error={error} />}
      {open.length === 0 && <p className="px-4 py-1 text-ink-2">What an architect suggests stands here until you accept or dismiss it. Nothing is changed before.</p>}
      {open.slice(0, shown).map((proposal) => (
        <ProposalCard
          key={proposal.id}
          proposal={proposal}
          stamp={stampOf(view, proposal.targetId)}
          names={names}
          first={proposal === at}
          active={active}
          acting={decide.isPending && decide.variables?.ids.includes(proposal.id) ? (decide.variables.accept ? "accept" : "dismiss") : null}
          busy={decide.isPending}
          dismissing={dismissing === proposal.id}
          onFocus={() => setCurrent(proposal.id)}
          onAccept={() => accept([proposal.id])}
          onTake={(take, seen) => decided({ accept: true, ids: [proposal.id], take, seen })}
          onDismissing={(on) => setDismissing(on ? proposal.id : "")}
          onDismiss={(note) => decided({ accept: false, ids: [proposal.id], note })}
        />
      ))}
      {open.length > shown && <Button className="m-4" onClick={() => setShown(shown + SHOWN)}>Show {count(open.length - shown, "more proposal")}</Button>}
    </aside>
  );
}

/** When the card that had the focus is decided and goes, the one in its place has it. */
function useFocusKept(open: Proposal[]) {
  const ref = useRef<HTMLElement>(null);
  const inside = useRef(false);
  useEffect(() => {
    if (!inside.current || document.activeElement !== document.body) return;
    const find = (selector: string) => ref.current?.querySelector<HTMLElement>(selector);
    (find("article[aria-current]") ?? find("h2"))?.focus();
  }, [open]);
  return { ref, onFocus: () => void (inside.current = true), onBlur: () => void (inside.current = false) };
}

interface Decision {
  accept: boolean;
  ids: string[];
  note?: string;
  take?: Take;
  seen?: string;
}

/** Accepts or dismisses in one request: all of them, or none. */
function useDecisions() {
  const { client, queries } = useCw();
  return useMutation({
    mutationFn: ({ accept, ids, note, take, seen }: Decision) =>
      accept ? client.post("/v1/proposals/accept", { body: { ids, take, seen } }) : client.post("/v1/proposals/dismiss", { body: { ids, note: note || undefined } }),
    onSuccess: (_, { accept, ids }) => say(`${count(ids.length, "proposal")} ${accept ? "accepted" : "dismissed"}`),
    onError: (error) => sayFailed(error instanceof Problem && error.status === 404 ? "It is not there any more: somebody decided it before you." : wordsOf(error)),
    onSettled: () => queries.invalidateQueries({ predicate: (query) => query.queryKey[0] === "proposals" || query.queryKey[0] === "initiatives" }),
  });
}

/** Names in the place of ids: what is there, and what is suggested. */
function namesOf(view: InitiativeView, open: Proposal[]): Map<string, string> {
  return new Map([
    ...open.map((one): [string, string] => [one.targetId, one.title]),
    ...view.pages.map((one): [string, string] => [one.id, one.title]),
    ...view.phases.map((one): [string, string] => [one.id, one.name]),
    ...view.tasks.map((one): [string, string] => [one.id, one.name]),
  ]);
}

/** How the target of a proposal is now: another stamp, another difference. */
function stampOf(view: InitiativeView, id: string): string {
  return [...view.pages, ...view.phases, ...view.tasks].find((one) => one.id === id)?.updatedAt ?? "";
}
