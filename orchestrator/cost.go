package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cw/internal/cw"
	"cw/providers"
	"cw/providers/parsers"
)

// spend is what a run used and cost so far.
type spend struct {
	USD      float64
	Source   cw.CostSource
	Usage    cw.Usage
	Unpriced []string // models whose tokens have no price; "" is one that nobody named
}

// spendOf prices what a run's CLI told: its own figure counts, and tokens that
// came after it times the table; without one all tokens times the table. own are
// the tokens without those of earlier runs, model is what was asked for.
func spendOf(prices providers.Prices, s parsers.Summary, own cw.Usage, model string) spend {
	asked := orDefault(s.Model, model)
	if s.CostUSD > 0 { // a CLI that tells none tells zero
		out := priced(prices, s.Later, asked)
		out.USD += s.CostUSD
		out.Source, out.Usage = orDefault(out.Source, cw.CostFromCLI), own
		return out
	}
	parts := s.Models
	if own != s.Usage || len(parts) == 0 { // a CLI that counts whole sessions tells nothing by model
		parts = []cw.ModelUsage{{Usage: own}}
	}
	out := priced(prices, parts, asked)
	out.Usage = own
	return out
}

// priced prices tokens of models, as far as the table knows them. asked is the
// model of those that name none. When the tokens are all of one model, it is also
// the one that was asked for, by whatever name a gateway told it.
func priced(prices providers.Prices, parts []cw.ModelUsage, asked string) (out spend) {
	for _, part := range parts {
		name := orDefault(part.Model, asked)
		usd, known := prices.Cost(name, part.Usage)
		if !known && len(parts) == 1 {
			usd, known = prices.Cost(asked, part.Usage)
		}
		switch {
		case known:
			out.USD, out.Source = out.USD+usd, cw.CostFromTable
		case part.Usage != (cw.Usage{}):
			out.Unpriced = append(out.Unpriced, name)
		}
	}
	return out
}

// meter is what a follower needs to price its run while it goes on.
type meter struct {
	scale   func(counted cw.Usage) cw.Usage // takes what earlier runs used away; nil: not set yet
	account cw.AccountID
	over    bool // its end is about to be stored: the row tells its cost
}

// setMeter prepares the count of a run's cost. It is called once, before any
// output is read.
func (f *follower) setMeter(ctx context.Context) error {
	st := f.state
	m := meter{scale: func(u cw.Usage) cw.Usage { return u }, account: accountIDOf(st)}
	preset, err := f.o.Presets.Get(providerOf(st.Run, st.Agent))
	if err == nil && preset.Usage == providers.UsageSession && st.Run.SessionNumber > 1 {
		view, err := f.o.Store.AgentView(ctx, string(st.Agent.ID))
		if err != nil {
			return fmt.Errorf("look for earlier runs: %w", err)
		}
		before := usageBefore(view.Runs, st.Run.SessionNumber)
		m.scale = func(u cw.Usage) cw.Usage { return preset.OwnUsage(u, before) }
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meter = m
	return nil
}

// accountIDOf is the account that a run's cost is the cost of.
func accountIDOf(st cw.RunState) cw.AccountID {
	return orDefault(st.Run.AccountID, cw.DefaultAccountID(orDefault(st.Run.Provider, st.Agent.Provider)))
}

// spend is what the run cost so far; nothing once its row tells it.
func (f *follower) spend() spend {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.meter.scale == nil || f.meter.over {
		return spend{}
	}
	return spendOf(f.o.Prices, f.summary, f.meter.scale(f.summary.Usage), f.state.Run.Model)
}

// closeMeter says that the run's cost is about to be stored. It comes before
// that, so that no run is ever counted twice.
func (f *follower) closeMeter() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meter.over = true
}

// liveSpend sums what runs that are under way cost so far, all but one, as far
// as they count for a budget.
func (o *Orchestrator) liveSpend(scope cw.BudgetScope, id string, without *follower) float64 {
	var sum float64
	for _, f := range o.following() {
		if f != without && f.countsFor(scope, id) {
			sum += f.spend().USD
		}
	}
	return sum
}

// following returns who follows the runs that are under way. Each has a lock of its
// own, which is not taken under that of o.
func (o *Orchestrator) following() []*follower {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(o.live)), func(f *follower) bool { return f == nil })
}

// LiveSpends tells what runs that are under way used and cost so far.
func (o *Orchestrator) LiveSpends() []cw.RunSpend {
	out := []cw.RunSpend{}
	for _, f := range o.following() {
		if s := f.spend(); s.USD > 0 || s.Usage != (cw.Usage{}) {
			out = append(out, cw.RunSpend{RunID: f.state.Run.ID, CostUSD: s.USD, Source: s.Source, Usage: s.Usage})
		}
	}
	return out
}

// countsFor tells whether the run's cost counts for a budget.
func (f *follower) countsFor(scope cw.BudgetScope, id string) bool {
	switch scope {
	case cw.BudgetAgent:
		return id == string(f.state.Agent.ID)
	case cw.BudgetInitiative:
		return id == string(f.state.Agent.InitiativeID)
	case cw.BudgetAccount:
		f.mu.Lock()
		defer f.mu.Unlock()
		return id == string(f.meter.account)
	}
	return false
}

// WithLive adds to budgets what runs that are under way spent of them.
func (o *Orchestrator) WithLive(budgets []cw.Budget) []cw.Budget { return o.withLive(budgets, nil) }

// WithLiveUnpriced adds to budgets the runs under way that use models without a
// price.
func (o *Orchestrator) WithLiveUnpriced(budgets []cw.Budget) []cw.Budget {
	for _, f := range o.following() {
		if len(f.spend().Unpriced) == 0 {
			continue
		}
		for i, b := range budgets {
			if f.countsFor(b.Scope, b.ScopeID) {
				budgets[i].Unpriced++
			}
		}
	}
	return budgets
}

func (o *Orchestrator) withLive(budgets []cw.Budget, without *follower) []cw.Budget {
	for i, b := range budgets {
		budgets[i].SpentUSD += o.liveSpend(b.Scope, b.ScopeID, without)
	}
	return budgets
}

// addLiveSpend adds to a view what its run that is under way cost so far.
func addLiveSpend(v *cw.AgentView, s spend) {
	last := &v.Runs[len(v.Runs)-1]
	if last.EndedAt != nil {
		return
	}
	last.CostUSD, last.CostSource, last.Usage = s.USD, s.Source, s.Usage
	v.CostUSD += s.USD
	v.Usage = v.Usage.Add(s.Usage)
}
