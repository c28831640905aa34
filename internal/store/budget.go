package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"cw/internal/cw"
)

// unpriced selects runs that are over and whose cost is not known.
const unpriced = "ended_at IS NOT NULL AND cost_source = '' AND COALESCE(json_extract(usage, '$.inputTokens') + json_extract(usage, '$.outputTokens'), 0) > 0"

// countUnpriced adds how many runs count for each budget and have no known cost.
func countUnpriced(g *gorm.DB, budgets []cw.Budget) error {
	for i := range budgets {
		b := &budgets[i]
		statement, ok := spentOf(b.Scope)
		if !ok {
			continue // of a later cw
		}
		statement = strings.Replace(statement, sumOfRuns, "SELECT COUNT(*) FROM runs ", 1) + " AND " + unpriced
		if err := g.Raw(statement, b.ScopeID).Scan(&b.Unpriced).Error; err != nil {
			return err
		}
	}
	return nil
}

// sumOfRuns begins each statement of spentOf.
const sumOfRuns = "SELECT COALESCE(SUM(cost_usd), 0) FROM runs "

// spentOf are the costs that count for a budget, by its scope.
func spentOf(scope cw.BudgetScope) (statement string, ok bool) {
	statement, ok = map[cw.BudgetScope]string{
		cw.BudgetAgent:      sumOfRuns + "WHERE agent_id = ? AND kind = 'agent'", // as the index runs_session says it
		cw.BudgetInitiative: sumOfRuns + "WHERE agent_id IN (SELECT id FROM agents WHERE initiative_id = ?)",
		cw.BudgetAccount:    sumOfRuns + "WHERE account_id = ?",
	}[scope]
	return statement, ok
}

// Budgets lists all budgets with what runs that are over spent of them, by
// scope and name.
func (db *DB) Budgets(ctx context.Context) ([]cw.Budget, error) {
	budgets := []cw.Budget{}
	err := db.query(ctx, "list budgets", func(g *gorm.DB) error {
		if err := g.Find(&budgets).Error; err != nil {
			return err
		}
		if err := fillBudgets(g, budgets); err != nil {
			return err
		}
		return countUnpriced(g, budgets)
	})
	slices.SortFunc(budgets, func(a, b cw.Budget) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ScopeID, b.ScopeID))
	})
	return budgets, err
}

// AccountBudgets gives the budgets of accounts with what runs that are over spent
// of them.
func (db *DB) AccountBudgets(ctx context.Context) ([]cw.Budget, error) {
	budgets := []cw.Budget{}
	err := db.query(ctx, "list budgets of accounts", func(g *gorm.DB) error {
		if err := g.Where("scope = ?", cw.BudgetAccount).Order("scope_id").Find(&budgets).Error; err != nil {
			return err
		}
		return fillBudgets(g, budgets)
	})
	return budgets, err
}

// BudgetsOf gives the budgets that an agent's runs count for: its own, its
// initiative's and its account's, with what runs that are over spent of them.
// CodeNotFound.
func (db *DB) BudgetsOf(ctx context.Context, id cw.AgentID) ([]cw.Budget, error) {
	budgets := []cw.Budget{}
	err := db.query(ctx, "read budgets of an agent", func(g *gorm.DB) error {
		agent, err := agentByRef(g, string(id))
		if err != nil {
			return err
		}
		err = g.Where("scope = ? AND scope_id = ? OR scope = ? AND scope_id = ? AND scope_id <> '' OR scope = ? AND scope_id = ?",
			cw.BudgetAgent, agent.ID, cw.BudgetInitiative, agent.InitiativeID,
			cw.BudgetAccount, accountOf(agent.Provider, agent.AccountID)).Order("scope").Find(&budgets).Error
		if err != nil {
			return err
		}
		return fillBudgets(g, budgets)
	})
	return budgets, err
}

// fillBudgets adds what no column holds: the names, and what is spent.
func fillBudgets(g *gorm.DB, budgets []cw.Budget) error {
	for i := range budgets {
		b := &budgets[i]
		statement, ok := spentOf(b.Scope)
		if !ok {
			continue // of a later cw
		}
		if err := g.Raw(statement, b.ScopeID).Scan(&b.SpentUSD).Error; err != nil {
			return err
		}
		if err := nameBudget(g, b); err != nil {
			return err
		}
	}
	return nil
}

// nameBudget says of what a budget is, by its id when that is not kept.
func nameBudget(g *gorm.DB, b *cw.Budget) error {
	b.Name = b.ScopeID
	switch b.Scope {
	case cw.BudgetAgent:
		var a cw.Agent
		found, err := one(g, &a, "id = ?", b.ScopeID)
		if found {
			b.Name = a.Alias
		}
		return err
	case cw.BudgetAccount:
		var a cw.Account
		found, err := one(g, &a, "id = ?", b.ScopeID)
		if found {
			b.Name = a.Provider + "/" + a.Name
		}
		return err
	case cw.BudgetInitiative:
		var i cw.Initiative
		found, err := one(g, &i, "id = ?", b.ScopeID)
		if found {
			b.Name, b.Slug = i.Name, i.Slug
		}
		return err
	}
	return nil
}

// SetBudget sets a limit for an agent, an initiative or an account, found by
// reference; 0 takes it away. Another limit than before is warned of anew.
// CodeNotFound; CodeInvalid as cw.CheckBudget.
func (db *DB) SetBudget(ctx context.Context, scope cw.BudgetScope, ref string, limitUSD float64) (cw.Budget, error) {
	var b cw.Budget
	if err := cw.CheckBudget(scope, limitUSD); err != nil {
		return b, err
	}
	err := db.change(ctx, "set budget", func(t *tx) error {
		id, err := t.budgetID(scope, ref)
		if err != nil {
			return err
		}
		b = cw.Budget{}
		found, err := one(t.DB, &b, "scope = ? AND scope_id = ?", scope, id)
		if err != nil {
			return err
		}
		if !found || b.LimitUSD != limitUSD {
			b = cw.Budget{Scope: scope, ScopeID: id, LimitUSD: limitUSD, SetAt: t.now}
			if err := t.saveBudget(b); err != nil {
				return err
			}
		}
		filled := []cw.Budget{b}
		err = fillBudgets(t.DB, filled)
		b = filled[0]
		return err
	})
	return b, err
}

// saveBudget stores a budget; one without a limit goes.
func (t *tx) saveBudget(b cw.Budget) error {
	if b.LimitUSD == 0 {
		return t.Where("scope = ? AND scope_id = ?", b.Scope, b.ScopeID).Delete(&cw.Budget{}).Error
	}
	return t.Clauses(clause.OnConflict{UpdateAll: true}).Create(&b).Error
}

// budgetID finds what a budget is for. CodeNotFound, CodeInvalid.
func (t *tx) budgetID(scope cw.BudgetScope, ref string) (string, error) {
	switch scope {
	case cw.BudgetAgent:
		agent, err := agentByRef(t.DB, ref)
		return string(agent.ID), err
	case cw.BudgetAccount:
		a, err := accountByRef(t.DB, ref)
		return string(a.ID), err
	}
	in, err := initiativeByRef(t.DB, ref)
	if cw.ErrorCode(err) != cw.CodeNotFound || ref == "" {
		return string(in.ID), err
	}
	// One of which nothing but agents is known.
	found, lookErr := one(t.DB, &cw.Agent{}, "initiative_id = ?", ref)
	if lookErr != nil || found {
		return ref, lookErr
	}
	return "", err
}

// MarkBudget stores that a budget's warning was told, or with spent its end. It
// tells whether this call did it: false when it was told already or there is no
// such budget (any more); then no event is stored.
func (db *DB) MarkBudget(ctx context.Context, scope cw.BudgetScope, id string, spent bool, e cw.Event) (marked bool, err error) {
	column := "warned_at"
	if spent {
		column = "spent_at"
	}
	err = db.change(ctx, "mark budget", func(t *tx) error {
		changed := t.Model(&cw.Budget{}).Where("scope = ? AND scope_id = ? AND "+column+" IS NULL", scope, id).
			Updates(map[string]any{column: t.now})
		if marked = changed.RowsAffected > 0; changed.Error != nil || !marked {
			return changed.Error
		}
		return t.emit(e)
	})
	return marked && err == nil, err
}
