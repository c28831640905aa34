package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type proposalDiffOptions struct {
	app *app
	id  string
}

func newProposalDiffCmd(a *app, runF func(context.Context, *proposalDiffOptions) error) *cobra.Command {
	opts := &proposalDiffOptions{app: a}
	return &cobra.Command{
		Use:   "diff ID",
		Short: "Show what a proposal changes as a patch",
		Long: `Show what a proposal changes as a patch of the target's file, as agents read and
write it. When the target changed since, what happened to it meanwhile comes
first, and then what accepting would make of it. Passages of a page that both
changed are shown with both texts, and with the commands to take one of them.`,
		Args: oneArg(&opts.id, proposalWhat),
		RunE: start(a, runF, proposalDiffRun, opts),
	}
}

func proposalDiffRun(ctx context.Context, o *proposalDiffOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.Proposal(ctx, cw.ProposalID(o.id))
	if err != nil {
		return hintNear(ctx, svc, err, nounProposal, o.id)
	}
	if a.json {
		return a.printJSON(v)
	}
	if v.Reason != "" {
		a.note("why: %s", oneLine(v.Reason))
	}
	return a.printProposalDiff(v)
}

// printProposalDiff prints what a proposal changes; when its target changed
// since, both sides of it.
func (a *app) printProposalDiff(v cw.ProposalView) error {
	if !v.Changed {
		return a.printPatch(v.Diff)
	}
	p := a.paint(a.outTTY)
	a.printf("%s\n", p.bold("what happened to it since it was suggested"))
	if err := a.printPatch(v.Theirs); err != nil {
		return err
	}
	a.printf("\n%s\n", p.bold("what accepting would make of it now"))
	if err := a.printPatch(v.Diff); err != nil {
		return err
	}
	if v.Status != cw.ProposalOpen {
		return nil
	}
	switch {
	case v.Action != cw.ActionUpdate || v.Current == "":
		a.note("the %s changed since, so this is not accepted: dismiss it, or let an agent suggest again", v.Target)
	case v.Conflicts == 0:
		a.note("the %s changed since; accepting keeps both changes", v.Target)
	case v.Merged != "":
		a.note("both changed the same in %d %s; take what is suggested there: cw proposal accept %s --take suggested --seen %s; or what the page says: --take current",
			v.Conflicts, plural(v.Conflicts, "place", "places"), v.ID, v.Seen)
	default:
		a.note("the %s changed since; to write the suggestion over it: cw proposal accept %s --take suggested --seen %s", v.Target, v.ID, v.Seen)
	}
	return nil
}
