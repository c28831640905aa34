package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type proposalDismissOptions struct {
	app *app
	proposalFlags
	note string
}

func newProposalDismissCmd(a *app, runF func(context.Context, *proposalDismissOptions) error) *cobra.Command {
	opts := &proposalDismissOptions{app: a}
	cmd := &cobra.Command{
		Use:   "dismiss [ID...]",
		Short: "Let suggested changes be, and say why",
		Long: `Let suggested changes be. The next agent is told what was dismissed and why, so
that it does not suggest it again.`,
		Example:     "cw proposal dismiss k3v7q2mzt5ha --note \"prices are never rounded up\"\ncw proposal dismiss --all spring-sale",
		Annotations: exits("4  one is not open"),
		RunE:        start(a, runF, proposalDismissRun, opts),
	}
	opts.define(cmd)
	cmd.Flags().StringVar(&opts.note, "note", "", "why: a `TEXT` that the next agent reads")
	return cmd
}

func proposalDismissRun(ctx context.Context, o *proposalDismissOptions) error {
	c, err := o.choice(o.note)
	if err != nil {
		return err
	}
	return o.app.decide(ctx, c, cw.Services.DismissProposals)
}
