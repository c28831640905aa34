package main

import (
	"context"

	"github.com/spf13/cobra"
)

type accountShowOptions struct {
	app *app
	ref string
}

func newAccountShowCmd(a *app, runF func(context.Context, *accountShowOptions) error) *cobra.Command {
	opts := &accountShowOptions{app: a}
	return &cobra.Command{
		Use:   "show ACCOUNT",
		Short: "Show everything about an account but its secret",
		Args:  oneArg(&opts.ref, accountWhat),
		RunE:  start(a, runF, accountShowRun, opts),
	}
}

func accountShowRun(ctx context.Context, o *accountShowOptions) error {
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.Account(ctx, o.ref)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(v)
	}
	o.app.printAccount(v)
	return nil
}
