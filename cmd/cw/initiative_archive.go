package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeArchiveOptions struct {
	app  *app
	ref  string
	undo bool
}

func newInitiativeArchiveCmd(a *app, runF func(context.Context, *initiativeArchiveOptions) error) *cobra.Command {
	opts := &initiativeArchiveOptions{app: a}
	cmd := &cobra.Command{
		Use:   "archive INITIATIVE",
		Short: "Put an initiative away; nothing in it changes any more",
		Long: `Put an initiative away. Everything in it stays and can be looked at, and nothing in
it changes any more until --undo takes it out again. It is refused while agents
of it work.`,
		Annotations: exits("4  agents of it work"),
		Args:        oneArg(&opts.ref, initiativeWhat),
		RunE:        start(a, runF, initiativeArchiveRun, opts),
	}
	cmd.Flags().BoolVar(&opts.undo, "undo", false, "take it out of the archive again")
	return cmd
}

func initiativeArchiveRun(ctx context.Context, o *initiativeArchiveOptions) error {
	archived := !o.undo
	return o.app.editInitiative(ctx, o.ref, cw.InitiativeEdit{Archived: &archived})
}
