package store

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cw/internal/cw"
)

// spent makes an agent with one run that cost something.
func (b *bench) spent(alias string, at time.Time, change func(*cw.SpawnIntent, *cw.Finish)) cw.SpawnIntent {
	b.t.Helper()
	in := intent(alias, b.addProject("p-"+alias))
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.CostSource, f.Usage = cw.CostFromCLI, cw.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, ReasoningTokens: 5}
	change(&in, &f)
	b.must(b.IntendSpawn(b.t.Context(), in))
	b.must(b.SaveStarting(b.t.Context(), starting(in)))
	r := running(in)
	r.StartedAt = at
	b.must(b.SaveRunning(b.t.Context(), r))
	_, err := b.FinishRun(b.t.Context(), f)
	b.must(err)
	return in
}

func TestCosts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	work := b.addAccount("work")
	sale := b.initiative("Spring sale")
	monday := time.Date(2026, 3, 2, 23, 59, 59, 0, time.UTC)
	one := b.spent("one-otter", monday, func(in *cw.SpawnIntent, f *cw.Finish) {
		in.Agent.AccountID, in.Agent.TaskID, in.Agent.InitiativeID, f.CostUSD = work.ID, "t1", sale.ID, 1.5
	})
	two := b.spent("two-otter", monday.Add(time.Second), func(in *cw.SpawnIntent, f *cw.Finish) {
		in.Agent.Provider, in.Agent.AccountID, f.CostUSD, f.CostSource, f.Model = "codex", "", 0.25, cw.CostFromTable, "gpt-5"
	})
	b.exec("UPDATE agents SET deleted_at = created_at WHERE id = '" + string(two.Agent.ID) + "'") // removed ones count
	b.spent("tre-otter", monday.Add(time.Hour), func(in *cw.SpawnIntent, f *cw.Finish) {
		in.Agent.AccountID, in.Agent.InitiativeID, f.CostSource = work.ID, "autumn", cw.CostUnknown
	})
	b.agentAt("new-otter", cw.StatusPending) // never ran
	all := cw.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, ReasoningTokens: 5}
	for by, want := range map[cw.CostBy][]string{
		cw.CostByAgent:      {"one-otter 1 1.5 0 0", "two-otter 1 0.25 0.25 0", "tre-otter 1 0 0 1"},
		cw.CostByRun:        {"one-otter 1 1 1.5 0 0", "two-otter 1 1 0.25 0.25 0", "tre-otter 1 1 0 0 1"},
		cw.CostByTask:       {"t1 1 1.5 0 0", "no task 2 0.25 0.25 1"},
		cw.CostByInitiative: {"spring-sale 1 1.5 0 0", "no initiative 1 0.25 0.25 0", "autumn 1 0 0 1"},
		cw.CostByAccount:    {"script/work 2 1.5 0 1", "codex/default 1 0.25 0.25 0"},
		cw.CostByProvider:   {"script 2 1.5 0 1", "codex 1 0.25 0.25 0"},
		cw.CostByDay:        {"2026-03-02 1 1.5 0 0", "2026-03-03 2 0.25 0.25 1"},
	} {
		rows, err := b.Costs(t.Context(), cw.CostQuery{By: by})
		b.must(err)
		var got []string
		sum := cw.Usage{}
		for _, r := range rows {
			got = append(got, fmt.Sprintf("%s %d %v %v %d", r.Name, r.Runs, r.CostUSD, r.EstimatedUSD, r.Unpriced))
			sum = sum.Add(r.Usage)
		}
		same(t, "by "+string(by), got, want)
		same(t, "tokens by "+string(by), sum, all.Add(all).Add(all))
	}
	since, until := monday.Add(time.Second), monday.Add(time.Hour)
	rows, err := b.Costs(t.Context(), cw.CostQuery{By: cw.CostByAgent, Since: &since, Until: &until})
	b.must(err)
	if len(rows) != 1 || rows[0].Key != string(two.Agent.ID) {
		t.Errorf("within an hour: %+v", rows)
	}
	_, err = b.Costs(t.Context(), cw.CostQuery{By: "month"})
	refuses(t, err, cw.CodeInvalid, "provider or day")
	run := b.agent("two-otter").Runs[0]
	same(t, "model and source", []string{run.Model, string(run.CostSource), run.Provider}, []string{"gpt-5", "table", "codex"})
	views, err := b.AccountViews(t.Context(), "script")
	b.must(err)
	for _, v := range views {
		if v.ID == work.ID && (v.CostUSD != 1.5 || v.Tokens != all.Add(all)) {
			t.Errorf("the account: %+v", v)
		}
	}
	_ = one
}

// TestCostDays: a day is as long as it is in the zone of the one who asks, also
// when the clocks are changed.
func TestCostDays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, at := range map[string]string{ // clocks in Berlin went from 2:00 to 3:00 on the 30th
		"one": "2025-03-29T22:59:59Z", "two": "2025-03-29T23:00:00Z", "tre": "2025-03-30T21:59:59Z", "fur": "2025-03-30T22:00:00Z",
	} {
		started, err := time.Parse(time.RFC3339, at)
		b.must(err)
		b.spent(name+"-otter", started, func(_ *cw.SpawnIntent, f *cw.Finish) { f.CostUSD = 1 })
	}
	for zone, want := range map[string][]string{
		"":                   {"2025-03-29 2", "2025-03-30 2"},
		"Europe/Berlin":      {"2025-03-29 1", "2025-03-30 2", "2025-03-31 1"},
		"Asia/Kathmandu":     {"2025-03-30 2", "2025-03-31 2"},
		"America/New_York":   {"2025-03-29 2", "2025-03-30 2"},
		"Pacific/Kiritimati": {"2025-03-30 2", "2025-03-31 2"},
	} {
		for _, then := range []cw.CostBy{"", cw.CostByProvider} {
			rows, err := b.Costs(t.Context(), cw.CostQuery{By: cw.CostByDay, Then: then, Zone: zone})
			b.must(err)
			var got []string
			for _, r := range rows {
				got = append(got, fmt.Sprintf("%s %v", r.Key, r.CostUSD))
			}
			same(t, "days of "+zone, got, want)
		}
	}
	_, err := b.Costs(t.Context(), cw.CostQuery{By: cw.CostByDay, Zone: "Europe/Bärlin"})
	refuses(t, err, cw.CodeInvalid, "Europe/Berlin")
}

// TestCostWays: every way of summing has its statement.
func TestCostWays(t *testing.T) {
	t.Parallel()
	for _, by := range cw.CostWays() {
		if _, ok := costKeyOf(by, "day"); !ok {
			t.Errorf("costs by %s have no statement", by)
		}
	}
	for _, scope := range []cw.BudgetScope{cw.BudgetAgent, cw.BudgetInitiative, cw.BudgetAccount} {
		if _, ok := spentOf(scope); !ok {
			t.Errorf("budgets of an %s have no statement", scope)
		}
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	work := b.addAccount("work")
	in := b.spent("one-otter", time.Now(), func(in *cw.SpawnIntent, f *cw.Finish) {
		in.Agent.AccountID, in.Agent.InitiativeID, in.BudgetUSD, f.CostUSD = work.ID, "spring", 5, 1.5
	})
	b.spent("two-otter", time.Now(), func(in *cw.SpawnIntent, f *cw.Finish) {
		in.Agent.AccountID, in.Agent.InitiativeID, f.CostUSD = work.ID, "spring", 2
	})
	b.spent("tre-otter", time.Now(), func(_ *cw.SpawnIntent, f *cw.Finish) { f.CostUSD = 9 })
	for scope, ref := range map[cw.BudgetScope]string{cw.BudgetInitiative: "spring", cw.BudgetAccount: "script/work"} {
		_, err := b.SetBudget(t.Context(), scope, ref, 100)
		b.must(err)
	}
	_, err := b.SetBudget(t.Context(), cw.BudgetAgent, "two-otter", 1)
	b.must(err)
	show := func(budgets []cw.Budget, err error) (out []string) {
		b.must(err)
		for _, x := range budgets {
			out = append(out, fmt.Sprintf("%s %s %v of %v", x.Scope, x.Name, x.SpentUSD, x.LimitUSD))
		}
		return out
	}
	own := []string{"account script/work 3.5 of 100", "agent one-otter 1.5 of 5", "initiative spring 3.5 of 100"}
	same(t, "of accounts", show(b.AccountBudgets(t.Context())), own[:1])
	same(t, "of one", show(b.BudgetsOf(t.Context(), in.Agent.ID)), own)
	same(t, "all", show(b.Budgets(t.Context())), []string{own[0], own[1], "agent two-otter 2 of 1", own[2]})
	none, err := b.AgentByRef(t.Context(), "tre-otter")
	b.must(err)
	same(t, "of one without", len(show(b.BudgetsOf(t.Context(), none.ID))), 0)
	_, err = b.BudgetsOf(t.Context(), "nobody")
	refuses(t, err, cw.CodeNotFound, "")

	gone, err := b.SetBudget(t.Context(), cw.BudgetAgent, "two-otter", 0)
	b.must(err)
	if gone.LimitUSD != 0 || gone.Name != "two-otter" {
		t.Errorf("taken away: %+v", gone)
	}
	same(t, "left", len(show(b.Budgets(t.Context()))), 3)
	b.refusedBudgets(t)
}

func (b *bench) refusedBudgets(t *testing.T) {
	t.Helper()
	before := b.dump()
	for _, c := range []struct {
		scope cw.BudgetScope
		ref   string
		limit float64
		code  cw.Code
	}{
		{cw.BudgetAgent, "one-otter", -1, cw.CodeInvalid},
		{cw.BudgetAgent, "one-otter", math.NaN(), cw.CodeInvalid},
		{cw.BudgetAgent, "one-otter", math.Inf(1), cw.CodeInvalid},
		{"project", "one-otter", 1, cw.CodeInvalid},
		{cw.BudgetAgent, "nobody", 1, cw.CodeNotFound},
		{cw.BudgetAccount, "nobody", 1, cw.CodeNotFound},
		{cw.BudgetInitiative, "", 1, cw.CodeNotFound},
		{cw.BudgetInitiative, "autumn", 1, cw.CodeNotFound},
	} {
		_, err := b.SetBudget(t.Context(), c.scope, c.ref, c.limit)
		refuses(t, err, c.code, "")
	}
	same(t, "rows", b.dump(), before)
}

// TestMarkBudget: of many who tell that a budget is reached exactly one does,
// and a new limit is warned of anew.
func TestMarkBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.agentAt("brave-otter", cw.StatusRunning)
	id := string(in.Agent.ID)
	_, err := b.SetBudget(t.Context(), cw.BudgetAgent, "brave-otter", 5)
	b.must(err)
	for _, spent := range []bool{false, true} {
		before := len(b.toldEvents())
		var marked atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				done, err := b.MarkBudget(t.Context(), cw.BudgetAgent, id, spent, event(cw.EventBudgetWarning, id))
				if err != nil {
					t.Error(err)
				}
				if done {
					marked.Add(1)
				}
			})
		}
		wg.Wait()
		same(t, "marked", marked.Load(), int32(1))
		same(t, "told", len(b.toldEvents())-before, 1)
	}
	same5, err := b.SetBudget(t.Context(), cw.BudgetAgent, "brave-otter", 5)
	b.must(err)
	more, err := b.SetBudget(t.Context(), cw.BudgetAgent, "brave-otter", 6)
	b.must(err)
	if same5.WarnedAt == nil || same5.SpentAt == nil || more.WarnedAt != nil || more.SpentAt != nil {
		t.Errorf("the same limit: %+v; another: %+v", same5, more)
	}
	for _, c := range []struct {
		scope cw.BudgetScope
		id    string
	}{{cw.BudgetAgent, "nobody"}, {cw.BudgetAccount, id}} {
		done, err := b.MarkBudget(t.Context(), c.scope, c.id, true, event(cw.EventBudgetSpent, id))
		b.must(err)
		same(t, "marked what is not there", done, false)
	}
	// What was never told cannot stay behind a spawn that is taken back.
	taken := intent("calm-bear", b.addProject("one"))
	taken.BudgetUSD = 3
	b.must(b.IntendSpawn(t.Context(), taken))
	b.must(b.AbortSpawn(t.Context(), taken.Op.ID))
	budgets, err := b.Budgets(t.Context())
	b.must(err)
	same(t, "budgets", len(budgets), 1)
}
