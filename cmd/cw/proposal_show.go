package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type proposalShowOptions struct {
	app *app
	id  string
}

func newProposalShowCmd(a *app, runF func(context.Context, *proposalShowOptions) error) *cobra.Command {
	opts := &proposalShowOptions{app: a}
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a proposal and what it changes",
		Args:  oneArg(&opts.id, proposalWhat),
		RunE:  start(a, runF, proposalShowRun, opts),
	}
}

func proposalShowRun(ctx context.Context, o *proposalShowOptions) error {
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
	a.printProposal(v)
	a.printf("\n")
	return a.printProposalDiff(v)
}

func (a *app) printProposal(v cw.ProposalView) {
	p := a.paint(a.outTTY)
	a.printf("%s  %s\n", p.bold(oneLine(fmt.Sprintf("%s %s: %s", v.Action, v.Target, v.Title))), p.proposal(v.Status))
	rows := [][2]string{
		{"id", string(v.ID)},
		{"initiative", string(v.InitiativeID)},
		{"agent", oneLine(v.Agent)},
		{"suggested", elapsed(a.now().Sub(v.CreatedAt)) + " ago"},
		{"file", oneLine(v.File)},
		{"target", oneLine(v.TargetID)},
		{"why", clean(v.Reason)},
		{"decided by", oneLine(v.DecidedBy)},
		{"note", clean(v.Note)},
	}
	if v.Status == cw.ProposalOpen && v.Conflicts == 0 {
		rows = append(rows, [2]string{"next", fmt.Sprintf("cw proposal accept %[1]s, or cw proposal dismiss %[1]s --note 'WHY'", v.ID)})
	}
	facts(a.out, "  ", rows)
}
