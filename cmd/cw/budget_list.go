package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type budgetListOptions struct{ app *app }

func newBudgetListCmd(a *app, runF func(context.Context, *budgetListOptions) error) *cobra.Command {
	opts := &budgetListOptions{app: a}
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the budgets, with what is spent of them",
		Args:    noArgs,
		RunE:    start(a, runF, budgetListRun, opts),
	}
}

func budgetListRun(ctx context.Context, o *budgetListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	budgets, err := svc.Budgets(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.Budget{}, budgets...))
	}
	if len(budgets) == 0 {
		a.note("no budgets; cw budget set agent NAME 5 sets one of $5")
		return nil
	}
	a.printBudgets(budgets)
	return nil
}
