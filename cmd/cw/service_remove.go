package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/service"
)

type serviceRemoveOptions struct{ app *app }

func newServiceRemoveCmd(a *app, runF func(context.Context, *serviceRemoveOptions) error) *cobra.Command {
	opts := &serviceRemoveOptions{app: a}
	return &cobra.Command{
		Use:     "remove",
		Aliases: []string{"rm"},
		Short:   "End the service, and do not start it again",
		Long: `End the service and delete its definition. Agents run on, and any command that
needs the daemon starts it again. Where there is no service nothing is done.`,
		Args: noArgs,
		RunE: start(a, runF, serviceRemoveRun, opts),
	}
}

func serviceRemoveRun(ctx context.Context, o *serviceRemoveOptions) error {
	return o.app.shown(o.app.aService(ctx, service.Remove))
}
