package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type accountTryOptions struct {
	app *app
	ref string
}

func newAccountTryCmd(a *app, runF func(context.Context, *accountTryOptions) error) *cobra.Command {
	opts := &accountTryOptions{app: a}
	return &cobra.Command{
		Use:         "test ACCOUNT",
		Short:       "Try an account's credentials",
		Annotations: exits("0  the provider takes them", "1  it does not, or it could not be asked"),
		Args:        oneArg(&opts.ref, accountWhat),
		RunE:        start(a, runF, accountTryRun, opts),
	}
}

func accountTryRun(ctx context.Context, o *accountTryOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	seen, err := svc.TestAccount(ctx, o.ref)
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(seen); err != nil {
			return err
		}
	} else if seen.OK {
		a.printf("%s: %s\n", oneLine(seen.Account), oneLine(seen.Text))
	}
	switch {
	case seen.OK:
		return nil
	case seen.Unknown:
		return cw.Errorf(cw.CodeFailed, "the credentials of %s could not be tried: %s", oneLine(seen.Account), oneLine(seen.Text)).
			WithHint("they may work all the same; try again later: cw account test %s", cw.ShellWord(o.ref))
	}
	hint := "remove it and add it anew: cw account remove " + cw.ShellWord(o.ref) + ", then cw account add"
	if seen.LogIn != "" {
		hint = "log in: " + oneLine(seen.LogIn)
	}
	return cw.Errorf(cw.CodeFailed, "the credentials of %s do not work: %s", oneLine(seen.Account), oneLine(seen.Text)).WithHint("%s", hint)
}
