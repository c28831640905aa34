package servicetest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// Costs implements cw.CostService: its runs cost nothing.
func (m *Memory) Costs(_ context.Context, q cw.CostQuery) ([]cw.CostRow, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	zone, err := q.Location()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := []cw.CostRow{}
	for i := range m.agents {
		for _, r := range m.agents[i].Runs {
			if q.Since != nil && r.StartedAt.Before(*q.Since) || q.Until != nil && !r.StartedAt.Before(*q.Until) {
				continue
			}
			key, name := costKeyOf(q.By, &m.agents[i], r, zone)
			then, thenName := "", ""
			if q.Then != "" {
				then, thenName = costKeyOf(q.Then, &m.agents[i], r, zone)
			}
			at := slices.IndexFunc(rows, func(c cw.CostRow) bool { return c.Key == key && c.Then == then })
			if at < 0 {
				at, rows = len(rows), append(rows, cw.CostRow{Key: key, Name: name, Then: then, ThenName: thenName})
			}
			rows[at].Runs++
			if r.EndedAt == nil {
				rows[at].UnderWay++
			}
		}
	}
	slices.SortFunc(rows, func(a, b cw.CostRow) int {
		if q.Then != "" {
			return cmp.Or(strings.Compare(a.Key, b.Key), b.Runs-a.Runs, strings.Compare(a.Then, b.Then))
		}
		if q.By == cw.CostByDay {
			return strings.Compare(a.Key, b.Key)
		}
		return cmp.Or(b.Runs-a.Runs, strings.Compare(a.Key, b.Key))
	})
	return rows, nil
}

func costKeyOf(by cw.CostBy, a *cw.AgentView, r cw.Run, zone *time.Location) (key, name string) {
	switch by {
	case cw.CostByRun:
		return string(r.ID), a.Alias
	case cw.CostByAgent:
		return string(a.ID), a.Alias
	case cw.CostByDay:
		day := r.StartedAt.In(zone).Format(time.DateOnly)
		return day, day
	case cw.CostByProvider:
		return a.Provider, a.Provider
	case cw.CostByAccount:
		return string(cw.DefaultAccountID(a.Provider)), a.Provider + "/" + cw.DefaultAccountName
	}
	return "", "none"
}

// Budgets implements cw.CostService.
func (m *Memory) Budgets(context.Context) ([]cw.Budget, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(slices.Values(m.budgets), func(a, b cw.Budget) int {
		return cmp.Or(strings.Compare(string(a.Scope), string(b.Scope)), strings.Compare(a.Name, b.Name))
	}), nil
}

// SetBudget implements cw.CostService.
func (m *Memory) SetBudget(_ context.Context, scope cw.BudgetScope, ref string, limitUSD float64) (budget cw.Budget, err error) {
	if err := cw.CheckBudget(scope, limitUSD); err != nil {
		return budget, err
	}
	m.change(func() {
		if budget, err = m.budgetFor(scope, ref); err != nil {
			return
		}
		m.budgets = slices.DeleteFunc(m.budgets, func(b cw.Budget) bool { return b.Scope == scope && b.ScopeID == budget.ScopeID })
		budget.LimitUSD, budget.SetAt = limitUSD, m.now()
		if limitUSD > 0 {
			m.budgets = append(m.budgets, budget)
		}
	})
	return budget, err
}

func (m *Memory) budgetFor(scope cw.BudgetScope, ref string) (cw.Budget, error) {
	switch scope {
	case cw.BudgetAgent:
		a, err := m.find(ref)
		if err != nil {
			return cw.Budget{}, err
		}
		return cw.Budget{Scope: scope, ScopeID: string(a.ID), Name: a.Alias}, nil
	case cw.BudgetAccount:
		i, err := m.findAccount(ref)
		if err != nil {
			return cw.Budget{}, err
		}
		a := m.accounts[i]
		return cw.Budget{Scope: scope, ScopeID: string(a.ID), Name: a.Provider + "/" + a.Name}, nil
	}
	return cw.Budget{}, cw.Errorf(cw.CodeNotFound, "there is no initiative %q", ref)
}
