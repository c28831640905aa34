package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type tokenRevokeOptions struct {
	app  *app
	refs []string
}

func newTokenRevokeCmd(a *app, runF func(context.Context, *tokenRevokeOptions) error) *cobra.Command {
	opts := &tokenRevokeOptions{app: a}
	return &cobra.Command{
		Use:   "revoke NAME|ID...",
		Short: "End tokens of dashboards and sessions of browsers",
		Long: `End tokens of dashboards and sessions of browsers, named by name or id: the next
request with one is refused, and streams that it has open end. Its name is free again. A token that
is ended already stays so.`,
		Example: "cw token revoke wall-screen",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s needs a token: a name or an id", title(cmd)).WithHint("cw token list shows all")
			}
			return anyArgs(&opts.refs)(cmd, args)
		},
		RunE: start(a, runF, tokenRevokeRun, opts),
	}
}

// tokenRevokeRun goes on after a failure: what is to be ended must not live on
// because of a slip in another name.
func tokenRevokeRun(ctx context.Context, o *tokenRevokeOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	ended, errs := []cw.Token{}, []error{}
	for _, ref := range o.refs {
		token, err := svc.RevokeToken(ctx, ref)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ended = append(ended, token)
		if !a.json {
			a.printf("%s is revoked\n", oneLine(token.Name))
		}
	}
	if a.json {
		errs = append(errs, a.printJSON(ended))
	}
	return errors.Join(errs...)
}
