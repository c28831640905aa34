package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type accountListOptions struct {
	app      *app
	provider string
}

func newAccountListCmd(a *app, runF func(context.Context, *accountListOptions) error) *cobra.Command {
	opts := &accountListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the accounts",
		Long: `List the accounts, by provider and priority. The account default of a provider is
your own login in the environment; there is nothing to set up for it.`,
		Args: noArgs,
		RunE: start(a, runF, accountListRun, opts),
	}
	cmd.Flags().StringVar(&opts.provider, "provider", "", "only accounts of this provider: its `NAME`")
	return cmd
}

func accountListRun(ctx context.Context, o *accountListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	accounts, err := svc.Accounts(ctx, o.provider)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.AccountView{}, accounts...))
	}
	if len(accounts) == 0 {
		a.note("no accounts yet: your own login is used; cw account add --token - adds one, cw account discover looks for logins")
		return nil
	}
	var rows [][]string
	for _, v := range accounts {
		rows = append(rows, []string{
			v.Provider, v.Name, string(v.Kind), a.accountState(v.Account), fmt.Sprint(v.Priority), usedFact(v.Usage),
			strings.Join(v.Agents, ", "), costCell(v.CostUSD),
		})
	}
	table(a.out, "", []string{"PROVIDER", "NAME", "KIND", "STATE", "PRIORITY", "USED", "AGENTS", "COST"}, rows)
	return nil
}

// usedFact is the use of the windows in a word each.
func usedFact(windows []cw.UsageWindow) string {
	var parts []string
	for _, w := range windows {
		parts = append(parts, fmt.Sprintf("%s %.0f%%", w.Kind, w.UsedPercent))
	}
	return strings.Join(parts, ", ")
}

// costCell is a cost in a table; "" for none.
func costCell(cost float64) string {
	if cost == 0 {
		return ""
	}
	return dollars(cost)
}
