package main

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type accountLoginOptions struct {
	app *app
	ref string
}

func newAccountLoginCmd(a *app, runF func(context.Context, *accountLoginOptions) error) *cobra.Command {
	opts := &accountLoginOptions{app: a}
	return &cobra.Command{
		Use:   "login ACCOUNT",
		Short: "Log in to an account, with the CLI's own login",
		Long: `Run the login of the provider's CLI here, in this terminal, with the directory of
the account, and take over what it leaves behind. Your own login is not touched.`,
		Example: "cw account add --email you@example.com && cw account login you@example.com",
		Args:    oneArg(&opts.ref, accountWhat),
		RunE:    start(a, runF, accountLoginRun, opts),
	}
}

func accountLoginRun(ctx context.Context, o *accountLoginOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	login, err := svc.LoginAccount(ctx, o.ref)
	if err != nil {
		return err
	}
	env := maps.Clone(a.env)
	for name, value := range login.Env {
		if env[name] = value; value == "" {
			delete(env, name)
		}
	}
	if err := a.child(login.Command, env.list()); err != nil {
		return cw.Errorf(cw.CodeFailed, "the login of %s did not end well", oneLine(login.Account.Provider)).
			WithHint("try again: cw account login %s", cw.ShellWord(accountTitle(login.Account))).Because(err)
	}
	// Ctrl-C may have been meant for the CLI, which ended well all the same.
	v, err := svc.FinishLogin(context.WithoutCancel(ctx), string(login.Account.ID))
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	a.printAccount(v)
	return nil
}
