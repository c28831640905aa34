package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type proposalAcceptOptions struct {
	app *app
	proposalFlags

	take string
	seen string
}

func newProposalAcceptCmd(a *app, runF func(context.Context, *proposalAcceptOptions) error) *cobra.Command {
	opts := &proposalAcceptOptions{app: a}
	cmd := &cobra.Command{
		Use:   "accept [ID...]",
		Short: "Make suggested changes, all or none",
		Long: `Make the changes that proposals suggest, in the order in which they depend on each
other: all of them or none.

A page that changed meanwhile, by hand or by an answer that was noted on it, keeps
that change: both are merged. Where both changed the same passage, or something
else than a page changed, nothing is accepted until you choose: cw proposal diff
shows both sides, and the two commands to take one of them.`,
		Example:     "cw proposal accept k3v7q2mzt5ha m4w8r3nzu6jb\ncw proposal accept --all spring-sale\ncw proposal accept --agent brave-otter\ncw proposal accept k3v7q2mzt5ha --take suggested --seen 5c1f90a7be23",
		Annotations: exits("4  one is not open, its target changed in the same passage, or it needs one that was not named"),
		RunE:        start(a, runF, proposalAcceptRun, opts),
	}
	opts.define(cmd)
	cmd.Flags().StringVar(&opts.take, "take", "", "where both changed the same, take one `SIDE`: "+commaList(cw.ProposalTakes()))
	cmd.Flags().StringVar(&opts.seen, "seen", "", "with --take: the `STATE` that you looked at, as cw proposal diff names it")
	return cmd
}

func proposalAcceptRun(ctx context.Context, o *proposalAcceptOptions) error {
	c, err := o.choice("")
	if err != nil {
		return err
	}
	c.Take, c.Seen = cw.ProposalTake(o.take), o.seen
	if err := c.Check(); err != nil {
		return usagef("%s", err).WithHint("%s", cw.ErrorHint(err))
	}
	return o.app.decide(ctx, c, cw.Services.AcceptProposals)
}
