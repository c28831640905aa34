package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeStartOptions struct {
	app *app
	ref string
}

func newInitiativeStartCmd(a *app, runF func(context.Context, *initiativeStartOptions) error) *cobra.Command {
	opts := &initiativeStartOptions{app: a}
	return &cobra.Command{
		Use:   "start INITIATIVE",
		Short: "Let the daemon start an initiative's tasks",
		Long: `Let the daemon start the tasks of an initiative: those that are accepted already,
and each later one as soon as it is accepted and what it depends on is done. Agents
cost money, so no task of a new initiative is started before. cw initiative edit
INITIATIVE --hold stops it again; agents that run go on.`,
		Example: "cw initiative start spring-sale",
		Args:    oneArg(&opts.ref, initiativeWhat),
		RunE:    start(a, runF, initiativeStartRun, opts),
	}
}

func initiativeStartRun(ctx context.Context, o *initiativeStartOptions) error {
	hold := false
	return o.app.editInitiative(ctx, o.ref, cw.InitiativeEdit{Work: &cw.WorkEdit{Hold: &hold}})
}
