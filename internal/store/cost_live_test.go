package store

import (
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"
)

// TestCostsUnderWay: runs that are under way count with what they cost so far, by
// every way of summing; one that is over counts by its row alone.
func TestCostsUnderWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	over := b.spent("old-otter", at, func(_ *cw.SpawnIntent, f *cw.Finish) { f.CostUSD = 1 })
	live := map[string]cw.RunID{}
	for i, alias := range []string{"new-otter", "odd-otter", "dry-otter"} {
		in := intent(alias, b.addProject("p-"+alias))
		b.must(b.IntendSpawn(t.Context(), in))
		b.must(b.SaveStarting(t.Context(), starting(in)))
		r := running(in)
		r.StartedAt = at.Add(time.Duration(i+1) * time.Minute)
		b.must(b.SaveRunning(t.Context(), r))
		live[alias] = in.Run.ID
	}
	used := cw.Usage{InputTokens: 7, OutputTokens: 9}
	spends := []cw.RunSpend{
		{RunID: live["new-otter"], CostUSD: 0.5, Source: cw.CostFromTable, Usage: used},
		{RunID: live["odd-otter"], Usage: used},         // no price
		{RunID: over.Run.ID, CostUSD: 100, Usage: used}, // its end was stored meanwhile
		{RunID: "gone", CostUSD: 100},
	}
	for by, want := range map[cw.CostBy][]string{
		cw.CostByAgent: {"old-otter 1 1 0 0 0", "new-otter 1 0.5 0.5 0 1", "dry-otter 1 0 0 0 1", "odd-otter 1 0 0 1 1"},
		cw.CostByDay:   {"2026-03-02 4 1.5 0.5 1 3"},
	} {
		rows, err := b.Costs(t.Context(), cw.CostQuery{By: by}, spends...)
		b.must(err)
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %d %v %v %d %d", r.Name, r.Runs, r.CostUSD, r.EstimatedUSD, r.Unpriced, r.UnderWay))
		}
		if by == cw.CostByAgent && len(got) == 4 && got[2] > got[3] { // of equal cost
			got[2], got[3] = got[3], got[2]
		}
		same(t, "by "+string(by), got, want)
		if sum := cw.SumCosts(rows); sum.CostUSD != 1.5 || sum.Usage.InputTokens != 10+2*7 || sum.Usage.OutputTokens != 20+2*9 {
			t.Errorf("by %s: %+v", by, sum)
		}
	}
}

// TestBudgetsUnpriced: a budget says how many runs it cannot count.
func TestBudgetsUnpriced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for alias, source := range map[string]cw.CostSource{"one-otter": cw.CostUnknown, "two-otter": cw.CostFromTable} {
		in := b.spent(alias, at, func(_ *cw.SpawnIntent, f *cw.Finish) { f.CostSource = source })
		_, err := b.SetBudget(t.Context(), cw.BudgetAgent, string(in.Agent.ID), 5)
		b.must(err)
	}
	_, err := b.SetBudget(t.Context(), cw.BudgetAccount, string(b.agent("one-otter").AccountID), 5)
	b.must(err)
	list, err := b.Budgets(t.Context())
	b.must(err)
	var got []string
	for _, one := range list {
		got = append(got, fmt.Sprintf("%s %d", one.Scope, one.Unpriced))
	}
	same(t, "runs without a price", got, []string{"account 1", "agent 1", "agent 0"})
}
