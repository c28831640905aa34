package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type tokenListOptions struct{ app *app }

func newTokenListCmd(a *app, runF func(context.Context, *tokenListOptions) error) *cobra.Command {
	opts := &tokenListOptions{app: a}
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List tokens of dashboards and sessions of browsers, newest first",
		Long: `List the tokens of dashboards and the sessions of browsers, newest first, the
revoked too. Sessions have the scope person. The tokens themselves are not kept.`,
		Args: noArgs,
		RunE: start(a, runF, tokenListRun, opts),
	}
}

func tokenListRun(ctx context.Context, o *tokenListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	tokens, err := cw.AllPages(ctx, svc.Tokens)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.Token{}, tokens...))
	}
	if len(tokens) == 0 {
		a.note("no tokens yet; cw token create makes one for a dashboard")
		return nil
	}
	var rows [][]string
	for _, t := range tokens {
		may := cw.ScopeRead
		for _, more := range []cw.Scope{cw.ScopeOperate, cw.ScopePerson} {
			if slices.Contains(t.Scopes, more) {
				may = more
			}
		}
		rows = append(rows, []string{t.Name, string(t.ID), string(may), minute(&t.CreatedAt), minute(t.UsedAt), minute(t.RevokedAt)})
	}
	table(a.out, "", []string{"NAME", "ID", "SCOPE", "MADE", "USED", "REVOKED"}, rows)
	return nil
}

// minute is a time as tables show it; "" for none.
func minute(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
