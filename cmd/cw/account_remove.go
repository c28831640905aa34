package main

import (
	"context"

	"github.com/spf13/cobra"
)

type accountRemoveOptions struct {
	app   *app
	ref   string
	drain bool
}

func newAccountRemoveCmd(a *app, runF func(context.Context, *accountRemoveOptions) error) *cobra.Command {
	opts := &accountRemoveOptions{app: a}
	cmd := &cobra.Command{
		Use:     "remove ACCOUNT",
		Aliases: []string{"rm"},
		Short:   "Forget an account and its secret",
		Long: `Forget an account and its secret. What its runs cost stays known. A login that was
adopted with --config-dir stays where it is.

While agents use it, it is refused. With --drain it gets no new runs and goes
with the last of them.`,
		Args: oneArg(&opts.ref, accountWhat),
		RunE: start(a, runF, accountRemoveRun, opts),
	}
	cmd.Flags().BoolVar(&opts.drain, "drain", false, "while agents use it: no new runs, and it goes with the last of them")
	return cmd
}

func accountRemoveRun(ctx context.Context, o *accountRemoveOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.RemoveAccount(ctx, o.ref, o.drain)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(v)
	case v.RemovedAt == nil:
		a.printf("%s goes when its last agent is done with it\n", accountTitle(v.Account))
	default:
		a.printf("%s is removed\n", accountTitle(v.Account))
	}
	return nil
}
