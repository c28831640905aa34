package daemon

import (
	"context"

	"cw/internal/cw"
	"cw/orchestrator"
)

// costs implements cw.CostService.
type costs struct {
	store  accountStore
	engine *orchestrator.Orchestrator
}

// Costs implements cw.CostService. What runs under way cost so far is asked first:
// one that ends meanwhile is counted by its row.
func (c costs) Costs(ctx context.Context, q cw.CostQuery) ([]cw.CostRow, error) {
	live := c.engine.LiveSpends()
	return c.store.Costs(ctx, q, live...)
}

// Budgets implements cw.CostService.
func (c costs) Budgets(ctx context.Context) ([]cw.Budget, error) {
	budgets, err := c.store.Budgets(ctx)
	if err != nil {
		return nil, err
	}
	return c.engine.WithLiveUnpriced(c.engine.WithLive(budgets)), nil
}

// SetBudget implements cw.CostService. Agents that waited for it go on.
func (c costs) SetBudget(ctx context.Context, scope cw.BudgetScope, ref string, limitUSD float64) (cw.Budget, error) {
	b, err := c.store.SetBudget(ctx, scope, ref, limitUSD)
	if err != nil {
		return b, err
	}
	return c.engine.WithLive([]cw.Budget{b})[0], c.engine.BudgetsChanged(ctx)
}
