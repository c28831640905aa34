package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type accountDiscoverOptions struct{ app *app }

func newAccountDiscoverCmd(a *app, runF func(context.Context, *accountDiscoverOptions) error) *cobra.Command {
	opts := &accountDiscoverOptions{app: a}
	return &cobra.Command{
		Use:   "discover",
		Short: "Look for logins on this machine",
		Long: `Look for logins and keys of providers on this machine: in the directories of their
CLIs and in this environment. Nothing is added; each comes with the command that
adds it.

Your own login is the account default of its provider already. Add it only to
have cw renew it once for many agents, and disable the account default then: both
have one limit.`,
		Args: noArgs,
		RunE: start(a, runF, accountDiscoverRun, opts),
	}
}

func accountDiscoverRun(ctx context.Context, o *accountDiscoverOptions) error {
	a := o.app
	home, err := a.home()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	found, err := svc.DiscoverAccounts(ctx, daemon.ForAgent(home, a.env))
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.FoundLogin{}, found...))
	}
	if len(found) == 0 {
		a.note("no login was found; cw account add --help tells how to add one")
		return nil
	}
	var rows [][]string
	for _, f := range found {
		rows = append(rows, []string{f.Provider, cmp.Or(f.ConfigDir, "$"+f.Variable), f.Email, f.Account, cmp.Or(f.Trouble, f.Add)})
	}
	table(a.out, "", []string{"PROVIDER", "WHERE", "LOGIN", "ACCOUNT", "NEXT"}, rows)
	return nil
}
