package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cw/internal/cw"
)

// gateLines is how much of a difference is shown before it is asked for.
const gateLines = 16

// decide is the gate after a step: what an agent suggests is accepted or
// dismissed, or the walk ends here.
func (w *walk) decide(ctx context.Context, agent cw.AgentView, open []cw.Proposal) error {
	if w.kept(agent.ID) < 0 { // it was done before this walk
		w.keep(agent)
		w.tell(agent)
	}
	if w.yes {
		w.sayProposals(open)
		return w.accept(ctx, open)
	}
	if !w.app.asks() {
		if !w.app.json {
			w.app.printProposals(open)
		}
		return w.undecided(agent, open)
	}
	return w.ask(ctx, agent, open)
}

// undecided is the error of a walk that ends at a decision.
func (w *walk) undecided(agent cw.AgentView, open []cw.Proposal) error {
	w.report.ExitReason, w.report.Proposals = exitProposals, open
	return cw.Errorf(cw.CodeWaiting, "%s of %s %s for your decision", count(len(open), "proposal"), agent.Alias, plural(len(open), "waits", "wait")).
		WithHint("cw proposal show ID shows one; cw proposal accept --agent %[1]s, or cw proposal dismiss --agent %[1]s --note 'WHY'; then go on with %[2]s", agent.Alias, w.again())
}

// sayProposals lists what was suggested.
func (w *walk) sayProposals(open []cw.Proposal) {
	for _, p := range open {
		fmt.Fprintf(w.app.err, "  %s  %s\n", p.ID, proposalLine(p))
	}
}

// proposalLine says in one line what a proposal is.
func proposalLine(p cw.Proposal) string {
	return cut(oneLine(fmt.Sprintf("%s %s: %s", p.Action, p.Target, p.Title)), nameMax)
}

// accept makes the changes that are suggested, all or none. Ctrl-C does not cut
// it off: nobody could say then what became of it.
func (w *walk) accept(ctx context.Context, some []cw.Proposal) error {
	if len(some) == 0 {
		return nil
	}
	done, err := uncut(ctx, w.app, "the changes are just being made; a moment (Ctrl-C again to leave at once)",
		func(ctx context.Context) ([]cw.Proposal, error) {
			return w.svc.AcceptProposals(ctx, cw.ProposalChoice{IDs: proposalIDs(some)})
		})
	if err != nil {
		return err
	}
	w.report.Accepted = append(w.report.Accepted, done...)
	w.app.note("accepted: %s", count(len(done), "proposal"))
	return nil
}

func proposalIDs(some []cw.Proposal) []cw.ProposalID {
	out := make([]cw.ProposalID, len(some))
	for i, p := range some {
		out[i] = p.ID
	}
	return out
}

// ask asks a person what is to become of proposals. What is refused is told, and
// the next look at what there is asks again.
func (w *walk) ask(ctx context.Context, agent cw.AgentView, open []cw.Proposal) error {
	w.keys.fresh()
	err := w.askOnce(ctx, agent, open)
	switch {
	case errors.Is(err, io.EOF): // stop, or Ctrl-D
		return w.undecided(agent, open)
	case err != nil && ctx.Err() != nil:
		w.report.ExitReason, w.report.Proposals = exitProposals, open
		return cw.Errorf(cw.CodeInterrupted, "you left; nothing was decided").WithHint("%s asks again", w.again())
	case cw.ErrorCode(err) == cw.CodeRefused:
		w.app.note("%s", strings.TrimSpace(clean(err.Error())))
		if hint := cw.ErrorHint(err); hint != "" {
			w.app.note("%s", clean(hint))
		}
		return nil
	}
	return err
}

func (w *walk) askOnce(ctx context.Context, agent cw.AgentView, open []cw.Proposal) error {
	fmt.Fprintf(w.app.err, "\n%s\n", w.app.paint(w.app.errTTY).yellow(fmt.Sprintf("%s suggests %s", agent.Alias, count(len(open), "change"))))
	w.sayProposals(open)
	for {
		word, err := w.keys.choose(ctx, "accept all (a), show what changes (s), choose one by one (c), or stop here (q): ", "accept", "show", "choose", "quit")
		if err != nil {
			return err
		}
		switch word {
		case "accept":
			return w.accept(ctx, open)
		case "choose":
			return w.oneByOne(ctx, open)
		case "quit":
			return io.EOF
		}
		for _, p := range open {
			if err := w.show(ctx, p, 0); err != nil {
				return err
			}
		}
	}
}

// dismissal is a proposal that a person does not want, and why.
type dismissal struct {
	id   cw.ProposalID
	note string
}

// oneByOne asks for each proposal. Nothing is sent on the way: who leaves in the
// middle has decided nothing.
func (w *walk) oneByOne(ctx context.Context, open []cw.Proposal) error {
	var wanted []cw.Proposal
	var unwanted []dismissal
	for _, p := range open {
		if err := w.show(ctx, p, gateLines); err != nil {
			return err
		}
		word := "show"
		for word == "show" {
			var err error
			if word, err = w.keys.choose(ctx, "accept (a), dismiss (d), show all of it (s), or stop here (q): ", "accept", "dismiss", "show", "quit"); err != nil {
				return err
			}
			if word == "show" {
				if err := w.show(ctx, p, 0); err != nil {
					return err
				}
			}
		}
		switch word {
		case "accept":
			wanted = append(wanted, p)
		case "dismiss":
			note, err := w.keys.words(ctx, "why, for the next agent (may be empty): ")
			if err != nil {
				return err
			}
			unwanted = append(unwanted, dismissal{p.ID, note})
		default:
			return io.EOF
		}
	}
	if err := w.accept(ctx, wanted); err != nil {
		return err
	}
	for _, d := range unwanted {
		done, err := w.svc.DismissProposals(context.WithoutCancel(ctx), cw.ProposalChoice{IDs: []cw.ProposalID{d.id}, Note: d.note})
		if err != nil {
			return err
		}
		w.report.Dismissed = append(w.report.Dismissed, done...)
	}
	if len(unwanted) > 0 {
		w.app.note("dismissed: %s", count(len(unwanted), "proposal"))
	}
	return nil
}

// show shows a proposal and what it changes, up to so many lines; 0: all.
func (w *walk) show(ctx context.Context, p cw.Proposal, most int) error {
	v, err := w.svc.Proposal(ctx, p.ID)
	if err != nil {
		return err
	}
	colours := w.app.paint(w.app.errTTY)
	fmt.Fprintf(w.app.err, "\n%s\n", colours.bold(proposalLine(v.Proposal)))
	if v.Changed {
		fmt.Fprintf(w.app.err, "  %s\n", colours.yellow(fmt.Sprintf("the %s changed since, so this cannot be accepted: edit it by hand, or dismiss this", v.Target)))
	}
	lines := strings.Split(strings.TrimRight(clean(v.Diff), "\n"), "\n")
	for i, line := range lines {
		if most > 0 && i == most && len(lines) > most+1 {
			fmt.Fprintf(w.app.err, "  %s\n", colours.dim(fmt.Sprintf("… %d more lines", len(lines)-i)))
			break
		}
		fmt.Fprintf(w.app.err, "  %s\n", colours.diff(line))
	}
	return nil
}
