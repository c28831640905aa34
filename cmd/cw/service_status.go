package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/service"
)

type serviceStatusOptions struct{ app *app }

func newServiceStatusCmd(a *app, runF func(context.Context, *serviceStatusOptions) error) *cobra.Command {
	opts := &serviceStatusOptions{app: a}
	return &cobra.Command{
		Use:   "status",
		Short: "Tell how the service is",
		Args:  noArgs,
		RunE:  start(a, runF, serviceStatusRun, opts),
	}
}

func serviceStatusRun(ctx context.Context, o *serviceStatusOptions) error {
	return o.app.shown(o.app.aService(ctx, service.Status))
}
