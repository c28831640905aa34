package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

const (
	// stopBudget is the wish of a budget that is spent, beside stopTerm and
	// stopKill of people and stopRule.
	stopBudget = "budget"
	// lastRunMax is how long the run may last in which an agent is asked to commit
	// and end, and lastRunPercent what it may cost, of the smallest limit that is
	// reached. So the most that is spent beyond a limit is one answer of the model
	// before cw sees it, this share, and one more answer.
	lastRunMax     = 10 * time.Minute
	lastRunPercent = 20
)

// budgets are all that a run counts for, with what is spent of them, by runs
// that are over and by those that are under way.
type budgets []cw.Budget

// spent are those of which nothing is left.
func (b budgets) spent() (out budgets) {
	for _, one := range b {
		if one.SpentUSD >= one.LimitUSD {
			out = append(out, one)
		}
	}
	return out
}

// near are those of which so much is spent that people are warned, and not all.
func (b budgets) near() (out budgets) {
	for _, one := range b {
		if one.SpentUSD < one.LimitUSD && one.SpentUSD*100 >= one.LimitUSD*cw.BudgetWarnPercent {
			out = append(out, one)
		}
	}
	return out
}

// text names budgets with what is spent of them.
func (b budgets) text() string {
	parts := make([]string, len(b))
	for i, one := range b {
		parts[i] = fmt.Sprintf("%s: $%.2f of $%.2f", budgetOf(one), one.SpentUSD, one.LimitUSD)
	}
	return strings.Join(parts, ", ")
}

func budgetOf(b cw.Budget) string { return fmt.Sprintf("%s %s", b.Scope, orDefault(b.Name, b.ScopeID)) }

// lastRun is the run in which an agent is asked to commit and end.
type lastRun struct {
	Since time.Time
	USD   float64 // what it cost so far
}

// mustEnd decides whether a run is to be ended for its budgets, and when to look
// again without news; zero: not before there are. last is nil for a usual run:
// that ends as soon as one of them is spent. The last run has a time and an
// allowance of its own. It goes on as any other when the limits were raised.
func mustEnd(b budgets, last *lastRun, now time.Time) (end bool, next time.Time) {
	spent := b.spent()
	if len(spent) == 0 || last == nil {
		return len(spent) > 0, time.Time{}
	}
	least := spent[0].LimitUSD
	for _, one := range spent {
		least = min(least, one.LimitUSD)
	}
	deadline := last.Since.Add(lastRunMax)
	if last.USD*100 >= least*lastRunPercent || !now.Before(deadline) {
		return true, time.Time{}
	}
	return false, deadline
}

// mustEndUnpriced decides the same about a run whose cost is not known, where such
// runs are to end: a usual one at once, and the last one when its time is over.
func mustEndUnpriced(last *lastRun, now time.Time) (end bool, next time.Time) {
	if last == nil {
		return true, time.Time{}
	}
	deadline := last.Since.Add(lastRunMax)
	if !now.Before(deadline) {
		return true, time.Time{}
	}
	return false, deadline
}

// unpricedText says that budgets cannot hold a run, as models that it uses have no
// price; "" when they can.
func unpricedText(b budgets, models []string) string {
	if len(b) == 0 || len(models) == 0 {
		return ""
	}
	of := make([]string, len(b))
	for i, one := range b {
		of[i] = budgetOf(one)
	}
	names := make([]string, 0, len(models))
	for _, m := range models {
		name := "a model that the CLI does not name"
		if m != "" {
			name = fmt.Sprintf("the model %.80q", m)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("no price is known for %s, so the budget of %s does not count what it uses; add the price to prices.yaml, then cw restart",
		strings.Join(names, " and "), strings.Join(of, " and "))
}

// withinBudget is the verdict of a run whose budgets are spent: no other run
// follows than one in which the agent is asked to commit and end, and after that
// one it is stopped. What it says itself counts before: one that is done is done,
// one that asks waits.
func withinBudget(e evidence, v verdict) verdict {
	switch {
	case e.StopRequested != "" || !e.Overspent && len(e.Spent) == 0 && e.Unwatched == "":
		return v
	case (e.SessionGone || sessionFull(e)) && v.Next != nil && v.Next.Fresh && v.Next.Reason == cw.RunBudget:
		return v // it was not asked yet
	case e.Reason == cw.RunBudget || e.NoRetries && (e.Overspent || v.Next != nil):
		return endedByBudget(e, v)
	case !e.Overspent && len(e.Spent) == 0 && v.Next != nil:
		return endedByBudget(e, v) // a last run without known costs might have no bound
	case v.Next != nil || v.Status == cw.StatusStopped && v.Reason == cw.ReasonBudget:
		next := nextStep{}
		if v.Next != nil {
			next = *v.Next
		}
		next.Reason, next.Why = cw.RunBudget, orDefault(e.Spent.text(), e.Unwatched)
		v.Next, v.Retries = &next, e.Retries
		return v
	}
	v.Warnings = append(v.Warnings, e.Spent.last()...)
	return v
}

// last is the warning that an agent gets no other run.
func (b budgets) last() []string {
	if len(b) == 0 { // the limits were raised meanwhile
		return nil
	}
	return []string{"a budget is spent, so it gets no other run: " + b.text()}
}

// endedByBudget is the end of an agent that had its last run. Questions that it
// asked stay open.
func endedByBudget(e evidence, v verdict) verdict {
	v.Next, v.RetryAt, v.Retries = nil, nil, cw.Retries{}
	if v.Status == cw.StatusWaitingForInput {
		v.Warnings = append(v.Warnings, e.Spent.last()...)
		return v
	}
	why := "a budget is spent" + colon(e.Spent.text())
	if len(e.Spent) == 0 && e.Unwatched != "" {
		why = e.Unwatched
	}
	v.Error = joined(why, v.Error)
	v.Status, v.Reason = cw.StatusStopped, cw.ReasonBudget
	return v
}

// budgetsOf gives the budgets that an agent's runs count for.
func (o *Orchestrator) budgetsOf(ctx context.Context, agent cw.AgentID) (budgets, error) {
	list, err := o.Store.BudgetsOf(ctx, agent)
	if err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	return o.withLive(list, nil), nil
}

// tellBudgets tells once what is reached, and warns the agent's people.
func (o *Orchestrator) tellBudgets(ctx context.Context, a cw.Agent, b budgets) error {
	for _, one := range b.near() {
		if err := o.markBudget(ctx, one, false, a); err != nil {
			return err
		}
		text := fmt.Sprintf("%d%% of the budget of %s are spent ($%.2f)", cw.BudgetWarnPercent, budgetOf(one), one.LimitUSD)
		if err := o.warn(ctx, a, text); err != nil {
			return err
		}
	}
	for _, one := range b.spent() {
		if err := o.markBudget(ctx, one, true, a); err != nil {
			return err
		}
	}
	return nil
}

func (o *Orchestrator) markBudget(ctx context.Context, b cw.Budget, spent bool, a cw.Agent) error {
	kind := cw.EventBudgetWarning
	if spent {
		kind = cw.EventBudgetSpent
	}
	ev := cw.NewEvent(kind, cw.Actor{Kind: cw.ActorCW}, cw.BudgetReached{
		Scope: b.Scope, ScopeID: b.ScopeID, Name: b.Name, LimitUSD: b.LimitUSD, SpentUSD: b.SpentUSD,
	}).About(a.ID, "")
	told, err := o.Store.MarkBudget(ctx, b.Scope, b.ScopeID, spent, ev)
	if err != nil {
		return fmt.Errorf("mark a budget: %w", err)
	}
	if told {
		o.Log.Info("budget reached", "budget", budgetOf(b), "spentUsd", b.SpentUSD, "limitUsd", b.LimitUSD, "event", kind)
	}
	return nil
}

// budgetLeft refuses another run of an agent of whose budgets one is spent.
// CodeRefused.
func (o *Orchestrator) budgetLeft(ctx context.Context, agent cw.AgentID) error {
	b, err := o.budgetsOf(ctx, agent)
	if err != nil {
		return err
	}
	return b.refuse()
}

// overdrawn gives the budgets of accounts of which nothing is left: such an
// account is given to no run.
func (o *Orchestrator) overdrawn(ctx context.Context) (budgets, error) {
	all, err := o.Store.AccountBudgets(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the budgets of accounts: %w", err)
	}
	return budgets(o.WithLive(all)).spent(), nil
}

// accounts are those that the budgets are for.
func (b budgets) accounts() []cw.AccountID {
	out := make([]cw.AccountID, len(b))
	for i, one := range b {
		out[i] = cw.AccountID(one.ScopeID)
	}
	return out
}

// of are the budgets of accounts of a pool.
func (b budgets) of(pool ...cw.Account) budgets {
	return slices.DeleteFunc(slices.Clone(b), func(one cw.Budget) bool {
		return !slices.ContainsFunc(pool, func(a cw.Account) bool { return string(a.ID) == one.ScopeID })
	})
}

// refuse says that one of them is spent, and what to do; nil when none is.
func (b budgets) refuse() error {
	spent := b.spent()
	if len(spent) == 0 {
		return nil
	}
	one := spent[0]
	return cw.Errorf(cw.CodeRefused, "a budget is spent: %s", spent.text()).
		WithHint("cw budget set %s %s USD sets a greater limit, 0 takes it away; texts that wait are kept", one.Scope, one.Ref())
}

// BudgetsChanged says that somebody changed a budget: agents that may go on do.
func (o *Orchestrator) BudgetsChanged(ctx context.Context) error {
	ready, err := o.Store.ReadyAgents(ctx)
	if err != nil {
		return fmt.Errorf("look for agents that may go on: %w", err)
	}
	for _, agent := range ready {
		if err := o.hand(ctx, func(life context.Context) { o.goOn(life, agent) }); err != nil {
			return err
		}
	}
	o.lookAtParked()
	return nil
}

// watchBudget looks at the budgets of a run whenever its cost has grown, and
// ends it when there is nothing left. It gives the time for the next look
// without output; zero: none. end ends the run.
func (f *follower) watchBudget(ctx context.Context, now time.Time, end func()) (next time.Time) {
	if f.overspent || f.gaveUp || f.stalled != nil {
		return time.Time{}
	}
	s := f.spend()
	if s.USD == f.budgetCost && len(s.Unpriced) == f.budgetLack && (f.budgetNext.IsZero() || now.Before(f.budgetNext)) {
		return f.budgetNext
	}
	next, err := f.checkBudget(ctx, now, s, end)
	if err != nil {
		if ctx.Err() == nil {
			f.o.Log.Error("look at the budgets; it is tried again", "agent", f.state.Agent.Alias, "error", err)
		}
		f.budgetCost, f.budgetNext = -1, now.Add(storeRetry)
		return f.budgetNext
	}
	f.budgetCost, f.budgetLack, f.budgetNext = s.USD, len(s.Unpriced), next
	return next
}

// checkBudget is one look. What is reached is stored before the run is ended, so
// that a daemon that dies in between does it again, and nothing twice.
func (f *follower) checkBudget(ctx context.Context, now time.Time, s spend, end func()) (next time.Time, err error) {
	st := f.state
	b, err := f.o.budgetsOf(ctx, st.Agent.ID)
	if err != nil {
		return next, err
	}
	if err := f.o.tellBudgets(ctx, st.Agent, b); err != nil {
		return next, err
	}
	blind, err := f.o.tellUnpriced(ctx, st.Agent, b, s)
	if err != nil {
		return next, err
	}
	var last *lastRun
	if st.Run.Reason == cw.RunBudget {
		last = &lastRun{Since: st.Run.CreatedAt, USD: s.USD}
	}
	over, next := mustEnd(b, last, now)
	if !over && blind != "" && f.o.StopUnpriced {
		over, next = mustEndUnpriced(last, now)
	}
	if !over {
		return next, nil
	}
	f.o.Fail.Hit("budget/told")
	if _, err := f.o.Store.RequestStop(ctx, st.Run.ID, stopBudget); err != nil {
		return next, fmt.Errorf("ask for the end of a run whose budget is spent: %w", err)
	}
	f.o.Fail.Hit("budget/requested")
	f.o.Log.Warn("end a run whose budget is spent", "agent", st.Agent.Alias, "budgets", orDefault(b.spent().text(), blind))
	f.overspent = true
	end()
	return time.Time{}, nil
}

// tellUnpriced warns the people of an agent whose budgets cannot hold its run. It
// gives the warning; "" when they can.
func (o *Orchestrator) tellUnpriced(ctx context.Context, a cw.Agent, b budgets, s spend) (string, error) {
	text := unpricedText(b, s.Unpriced)
	if text == "" {
		return "", nil
	}
	return text, o.warn(ctx, a, text)
}

// spentAtEnd tells which budgets are spent at the end of a run that cost that
// much, once they are told, and why they cannot hold the run where such runs are to
// end.
func (o *Orchestrator) spentAtEnd(ctx context.Context, st cw.RunState, f *follower, cost spend) (spent budgets, unwatched string, err error) {
	list, err := o.Store.BudgetsOf(ctx, st.Agent.ID)
	if err != nil {
		return nil, "", fmt.Errorf("read budgets: %w", err)
	}
	b := budgets(o.withLive(list, f))
	for i := range b {
		b[i].SpentUSD += cost.USD
	}
	if err := o.tellBudgets(ctx, st.Agent, b); err != nil {
		return nil, "", err
	}
	unwatched, err = o.tellUnpriced(ctx, st.Agent, b, cost)
	if !o.StopUnpriced {
		unwatched = ""
	}
	return b.spent(), unwatched, err
}
