package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type phaseArchiveOptions struct {
	app  *app
	refs []string
	undo bool
}

func newPhaseArchiveCmd(a *app, runF func(context.Context, *phaseArchiveOptions) error) *cobra.Command {
	opts := &phaseArchiveOptions{app: a}
	cmd := &cobra.Command{
		Use:   "archive ID...",
		Short: "Put phases away",
		Args:  someArgs(&opts.refs, phaseWhat, "cw phase list INITIATIVE shows all"),
		RunE:  start(a, runF, phaseArchiveRun, opts),
	}
	cmd.Flags().BoolVar(&opts.undo, "undo", false, "take them out of the archive again, as drafts")
	return cmd
}

func phaseArchiveRun(ctx context.Context, o *phaseArchiveOptions) error {
	status := cw.PhaseArchived
	if o.undo {
		status = cw.PhaseDraft
	}
	return o.app.setPhases(ctx, o.refs, status)
}
