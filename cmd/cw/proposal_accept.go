package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type proposalAcceptOptions struct {
	app *app
	proposalFlags
}

func newProposalAcceptCmd(a *app, runF func(context.Context, *proposalAcceptOptions) error) *cobra.Command {
	opts := &proposalAcceptOptions{app: a}
	cmd := &cobra.Command{
		Use:   "accept [ID...]",
		Short: "Make suggested changes, all or none",
		Long: `Make the changes that proposals suggest, in the order in which they depend on each
other: all of them or none.`,
		Example:     "cw proposal accept k3v7q2mzt5ha m4w8r3nzu6jb\ncw proposal accept --all spring-sale\ncw proposal accept --agent brave-otter",
		Annotations: exits("4  one is not open, its target changed since, or it needs one that was not named"),
		RunE:        start(a, runF, proposalAcceptRun, opts),
	}
	opts.define(cmd)
	return cmd
}

func proposalAcceptRun(ctx context.Context, o *proposalAcceptOptions) error {
	c, err := o.choice("")
	if err != nil {
		return err
	}
	return o.app.decide(ctx, c, cw.Services.AcceptProposals)
}
