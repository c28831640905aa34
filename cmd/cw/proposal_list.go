package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type proposalListOptions struct {
	app        *app
	initiative string
	agent      string
	statuses   []string
	listing    listing
}

func newProposalListCmd(a *app, runF func(context.Context, *proposalListOptions) error) *cobra.Command {
	opts := &proposalListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List what agents suggest, oldest first",
		Example: "cw proposal list --initiative spring-sale\ncw proposal list --agent brave-otter --status all",
		Args:    noArgs,
		RunE:    start(a, runF, proposalListRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.initiative, "initiative", "", "only those for this `INITIATIVE`: slug or id")
	fl.StringVar(&opts.agent, "agent", "", "only those of this agent: `NAME` or id")
	fl.StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`: "+commaList(cw.ProposalStatuses())+" or "+allStatuses+" (default: open)")
	opts.listing.flags(fl, cw.ProposalList())
	_ = cmd.RegisterFlagCompletionFunc("agent", completeAgents(a, cw.AgentFilter{})) // the flags were defined above
	_ = cmd.RegisterFlagCompletionFunc("initiative", completeInitiatives(a, true))
	return cmd
}

func proposalListRun(ctx context.Context, o *proposalListOptions) error {
	a := o.app
	page, err := o.listing.query()
	if err != nil {
		return err
	}
	f := cw.ProposalFilter{PageQuery: page, Initiative: o.initiative, Agent: o.agent, Statuses: o.wanted()}
	if _, err := (cw.ProposalFilter{Statuses: f.Statuses}).Start(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	all, err := allProposals(ctx, svc, f)
	switch {
	case err != nil && o.initiative != "":
		return hintNear(ctx, svc, err, nounInitiative, o.initiative)
	case err != nil:
		return err
	case a.json:
		return a.printJSON(append([]cw.Proposal{}, all...))
	case len(all) == 0 && len(o.statuses) == 0:
		a.note("no proposal waits for you")
	case len(all) == 0:
		a.note("no proposals like that")
	default:
		a.printProposals(all)
	}
	return nil
}

// wanted are the statuses to ask for; none means all.
func (o *proposalListOptions) wanted() []cw.ProposalStatus {
	if len(o.statuses) == 0 {
		return []cw.ProposalStatus{cw.ProposalOpen}
	}
	for _, s := range o.statuses {
		if s == allStatuses {
			return nil
		}
	}
	return ids[cw.ProposalStatus](o.statuses)
}
