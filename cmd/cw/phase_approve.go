package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type phaseApproveOptions struct {
	app  *app
	refs []string
}

func newPhaseApproveCmd(a *app, runF func(context.Context, *phaseApproveOptions) error) *cobra.Command {
	opts := &phaseApproveOptions{app: a}
	return &cobra.Command{
		Use:   "approve ID...",
		Short: "Accept phases: their tasks may be worked on",
		Args:  someArgs(&opts.refs, phaseWhat, "cw phase list INITIATIVE shows all"),
		RunE:  start(a, runF, phaseApproveRun, opts),
	}
}

func phaseApproveRun(ctx context.Context, o *phaseApproveOptions) error {
	return o.app.setPhases(ctx, o.refs, cw.PhaseApproved)
}
