package servicetest

import (
	"math"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
)

// costsCase: every way of summing is answered, and others are refused.
func costsCase(t *testing.T, f Fixture) {
	s := f.Services
	for _, by := range cw.CostWays() {
		rows, err := s.Costs(soon(t), cw.CostQuery{By: by})
		ok(t, err)
		if rows == nil {
			t.Errorf("by %s: no list", by)
		}
	}
	for _, then := range []cw.CostBy{cw.CostByAccount, cw.CostByTask} {
		parts, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByDay, Then: then})
		ok(t, err)
		whole, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByDay})
		ok(t, err)
		runs := map[string]int{}
		for _, r := range parts {
			if runs[r.Key] += r.Runs; r.ThenName == "" {
				t.Errorf("a part without a name: %+v", r)
			}
		}
		for _, r := range whole {
			if runs[r.Key] != r.Runs {
				t.Errorf("%s by %s: the parts have %d runs of %d", r.Key, then, runs[r.Key], r.Runs)
			}
		}
	}
	for _, then := range []cw.CostBy{cw.CostByDay, "month"} {
		_, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByDay, Then: then})
		wantCode(t, "costs by day and "+string(then), err, cw.CodeInvalid)
	}
	for _, zone := range []string{"Europe/Berlin", "UTC", ""} {
		_, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByDay, Zone: zone})
		ok(t, err)
	}
	for _, zone := range []string{"Local", "Berlin", "../etc/passwd", "Europe/Berlin\x00", "CET-1CEST"} {
		_, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByDay, Zone: zone})
		wantCode(t, "costs in the zone "+zone, err, cw.CodeInvalid)
	}
	never := time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC)
	rows, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByDay, Until: &never})
	ok(t, err)
	if len(rows) != 0 {
		t.Errorf("before everything: %+v", rows)
	}
	for _, by := range []cw.CostBy{"", "month", "Agent"} {
		_, err := s.Costs(soon(t), cw.CostQuery{By: by})
		wantCode(t, "Costs by "+string(by), err, cw.CodeInvalid)
	}
}

// budgetsCase: a budget is set, changed and taken away, for an agent and for an
// account; and the runs of an agent are summed under its name.
func budgetsCase(t *testing.T, f Fixture) {
	s := f.Services
	v, err := s.Spawn(soon(t), f.Spawn)
	ok(t, err)
	defer func() {
		_, err := s.Stop(soon(t), v.Alias, cw.StopRequest{Now: true})
		ok(t, err)
	}()
	a, err := s.AddAccount(soon(t), cw.AddAccountRequest{Name: "work", Token: aToken()})
	ok(t, err)
	for _, limit := range []float64{5, 0.5} {
		b, err := s.SetBudget(soon(t), cw.BudgetAgent, v.Alias, limit)
		ok(t, err)
		if b.ScopeID != string(v.ID) || b.Name != v.Alias || b.LimitUSD != limit || b.WarnedAt != nil || b.SpentAt != nil {
			t.Errorf("set %+v", b)
		}
	}
	_, err = s.SetBudget(soon(t), cw.BudgetAccount, "claude/work", 100)
	ok(t, err)
	budgets, err := s.Budgets(soon(t))
	ok(t, err)
	if len(budgets) != 2 || budgets[0].ScopeID != string(a.ID) || budgets[0].Name != "claude/work" ||
		budgets[1].LimitUSD != 0.5 || budgets[1].SpentUSD != 0 {
		t.Errorf("budgets %+v", budgets)
	}
	gone, err := s.SetBudget(soon(t), cw.BudgetAgent, string(v.ID), 0)
	ok(t, err)
	budgets, err = s.Budgets(soon(t))
	ok(t, err)
	if len(budgets) != 1 || gone.LimitUSD != 0 {
		t.Errorf("%+v was taken away, left %+v", gone, budgets)
	}
	badBudgets(t, f, v.Alias)

	rows, err := s.Costs(soon(t), cw.CostQuery{By: cw.CostByAgent})
	ok(t, err)
	if !slices.ContainsFunc(rows, func(r cw.CostRow) bool {
		return r.Key == string(v.ID) && r.Name == v.Alias && r.Runs == 1 && r.UnderWay == 1
	}) {
		t.Errorf("costs by agent: %+v", rows)
	}
}

func badBudgets(t *testing.T, f Fixture, agent string) {
	t.Helper()
	for _, c := range []struct {
		scope cw.BudgetScope
		ref   string
		limit float64
		code  cw.Code
	}{
		{cw.BudgetAgent, agent, -1, cw.CodeInvalid},
		{cw.BudgetAgent, agent, math.NaN(), cw.CodeInvalid},
		{cw.BudgetAgent, agent, math.Inf(1), cw.CodeInvalid},
		{"project", agent, 1, cw.CodeInvalid},
		{"", agent, 1, cw.CodeInvalid},
		{cw.BudgetAgent, unknown, 1, cw.CodeNotFound},
		{cw.BudgetAccount, unknown, 1, cw.CodeNotFound},
		{cw.BudgetInitiative, unknown, 1, cw.CodeNotFound},
	} {
		_, err := f.Services.SetBudget(soon(t), c.scope, c.ref, c.limit)
		wantCode(t, "SetBudget "+string(c.scope)+" "+c.ref, err, c.code)
	}
}
