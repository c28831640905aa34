package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type budgetSetOptions struct {
	app   *app
	scope cw.BudgetScope
	ref   string
	limit float64
}

func newBudgetSetCmd(a *app, runF func(context.Context, *budgetSetOptions) error) *cobra.Command {
	opts := &budgetSetOptions{app: a}
	return &cobra.Command{
		Use:   "set SCOPE NAME USD",
		Short: "Set a hard limit of cost, or take it away with 0",
		Long: `Set what an agent, an initiative or an account may cost, in US dollars. SCOPE is
agent, initiative or account. At 80 % you are warned; at 100 % agents are asked to
commit and stop, and then stopped. 0 takes the budget away.`,
		Example: "cw budget set agent brave-otter 5\ncw budget set account claude/work 100\ncw budget set agent brave-otter 0",
		Args:    func(cmd *cobra.Command, args []string) error { return opts.take(cmd, args) },
		RunE:    start(a, runF, budgetSetRun, opts),
	}
}

func (o *budgetSetOptions) take(cmd *cobra.Command, args []string) error {
	if len(args) != 3 {
		return usagef("%s needs a scope, a name and an amount, and got %s", title(cmd), count(len(args), "argument")).WithHint("usage: %s", cmd.UseLine())
	}
	limit, err := parseDollars(args[2])
	if err != nil {
		return err
	}
	o.scope, o.ref, o.limit = cw.BudgetScope(args[0]), args[1], limit
	return cw.CheckBudget(o.scope, o.limit)
}

// parseDollars reads an amount: 5, 0.50 or $5. CodeInvalid.
func parseDollars(text string) (float64, error) {
	amount, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil {
		return 0, usagef("%.40q is no amount of US dollars", text).WithHint("write it as 5 or 0.50")
	}
	return amount, nil
}

func budgetSetRun(ctx context.Context, o *budgetSetOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	b, err := svc.SetBudget(ctx, o.scope, o.ref, o.limit)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(b)
	case b.LimitUSD == 0:
		a.printf("%s %s has no budget any more\n", b.Scope, oneLine(b.Ref()))
	default:
		a.printBudgets([]cw.Budget{b})
	}
	return nil
}
