package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// proposalWhat says in errors what a command wants.
const proposalWhat = "a proposal: its id"

func newProposalCmd(a *app) *cobra.Command {
	return newGroupCmd("proposal", "Changes that agents suggest, for you to accept or dismiss",
		newProposalListCmd(a, nil), newProposalShowCmd(a, nil), newProposalDiffCmd(a, nil),
		newProposalAcceptCmd(a, nil), newProposalDismissCmd(a, nil))
}

// allProposals lists all proposals that a filter selects, oldest first.
func allProposals(ctx context.Context, svc cw.Services, f cw.ProposalFilter) ([]cw.Proposal, error) {
	sort := f.Sort
	return cw.SomePages(ctx, f.Limit, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Proposal], error) {
		f.PageQuery, f.Sort = q, sort
		return svc.Proposals(ctx, f)
	})
}

// proposal colours the status of a proposal.
func (p paint) proposal(s cw.ProposalStatus) string {
	switch s {
	case cw.ProposalOpen:
		return p.yellow(string(s))
	case cw.ProposalAccepted:
		return p.green(string(s))
	}
	return p.dim(oneLine(string(s)))
}

// printProposals lists proposals.
func (a *app) printProposals(all []cw.Proposal) {
	header := []string{"ID", "STATUS", "CHANGE", "AGE", "TITLE"}
	var rows [][]string
	for _, p := range all {
		rows = append(rows, []string{
			string(p.ID), string(p.Status), strings.TrimSpace(string(p.Action) + " " + string(p.Target)),
			elapsed(a.now().Sub(p.CreatedAt)), cut(oneLine(p.Title), titleMax),
		})
	}
	if a.outTTY {
		header, rows = fit(header, rows, a.width())
	}
	table(a.out, "", header, rows)
}

// proposalFlags choose proposals to decide on.
type proposalFlags struct {
	refs  []string
	all   string
	agent string
}

func (f *proposalFlags) define(cmd *cobra.Command) {
	cmd.Args = anyArgs(&f.refs)
	cmd.Flags().StringVar(&f.all, "all", "", "all open ones of this `INITIATIVE`: slug or id")
	cmd.Flags().StringVar(&f.agent, "agent", "", "all open ones of this agent: `NAME` or id")
}

// choice is what the arguments and flags choose. CodeInvalid.
func (f *proposalFlags) choice(note string) (cw.ProposalChoice, error) {
	c := cw.ProposalChoice{IDs: ids[cw.ProposalID](f.refs), Agent: f.agent, Initiative: f.all, Note: note}
	for _, ref := range f.refs {
		if strings.TrimSpace(ref) == "" {
			return c, usagef("a proposal is named by an empty word").WithHint("cw proposal list shows the ids")
		}
	}
	if err := c.Check(); err != nil {
		return c, usagef("which proposals?").WithHint("name their ids, --agent NAME, or --all INITIATIVE, and only one of these; cw proposal list shows them")
	}
	return c, nil
}

// decide accepts or dismisses proposals and shows them.
func (a *app) decide(ctx context.Context, c cw.ProposalChoice,
	act func(cw.Services, context.Context, cw.ProposalChoice) ([]cw.Proposal, error),
) error {
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	decided, err := act(svc, ctx, c)
	if err != nil {
		for _, id := range c.IDs {
			err = hintNear(ctx, svc, err, nounProposal, string(id))
		}
		if c.Initiative != "" {
			err = hintNear(ctx, svc, err, nounInitiative, c.Initiative)
		}
		return err
	}
	switch {
	case a.json:
		return a.printJSON(append([]cw.Proposal{}, decided...))
	case len(decided) == 0:
		a.note("nothing is open there")
	default:
		a.printProposals(decided)
	}
	return nil
}
