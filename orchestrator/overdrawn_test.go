package orchestrator

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
)

// TestOverdrawnAccount: an account whose budget is spent is given to no run: not
// to a new agent, and not to one that leaves another account. It is back with a
// greater budget.
func TestOverdrawnAccount(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	req := e.sessions(does())
	e.pool("a", "b")
	req.AccountID = "a"
	e.idleAfter(e.mustSpawn(req).Alias, 1)
	e.exec("UPDATE runs SET cost_usd = 5 WHERE account_id = 'id-a'")
	limit := func(name string, usd float64) {
		_, err := e.db.SetBudget(t.Context(), cw.BudgetAccount, "session/"+name, usd)
		must(t, err)
	}
	limit("a", 1)
	e.refusesSpawn(req, "cw budget set account session/a")
	for range 3 {
		if v := e.mustSpawn(e.sessions(does())); v.AccountID != "id-b" {
			t.Errorf("%s was given %s", v.Alias, v.AccountID)
		}
	}
	v := e.exhausted("b", 3600)
	if v = e.until(v.Alias, func(v cw.AgentView) bool { return v.Status != cw.StatusStarting }); v.Status != cw.StatusParked || v.RetryAt == nil {
		t.Errorf("%s %s until %v with %s", v.Status, v.Reason, v.RetryAt, v.AccountID)
	}
	limit("a", 100)
	must(t, e.BudgetsChanged(t.Context()))
	if v = e.idleAfter(v.Alias, 2); v.AccountID != "id-a" {
		t.Errorf("it went on with %s", v.AccountID)
	}
	e.exec("UPDATE runs SET cost_usd = 500")
	limit("b", 1)
	e.refusesSpawn(e.sessions(does()), "cw budget set account session/")
}

func (e *engine) refusesSpawn(req cw.SpawnRequest, hint string) {
	e.t.Helper()
	_, err := e.Spawn(e.t.Context(), req)
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), hint) {
		e.t.Errorf("spawned: %v (%s)", err, cw.ErrorHint(err))
	}
}

// TestUnknownAccount: an agent whose account nobody knows any more goes on with
// another one.
func TestUnknownAccount(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	req := e.sessions(does())
	e.pool("a", "b")
	req.AccountID = "a"
	v := e.idleAfter(e.mustSpawn(req).Alias, 1)
	e.exec("DELETE FROM accounts WHERE id = 'id-a'")
	_, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Text: "Also this. " + fakecli.Script{Book: e.books, Signal: done}.Text()})
	must(t, err)
	if v = e.idleAfter(v.Alias, 2); v.AccountID != "id-b" || !v.Runs[1].Fresh {
		t.Errorf("account %s, runs %+v", v.AccountID, v.Runs)
	}
	if got := switches(t, e); len(got) != 1 || got[0].Reason != cw.ReasonUser {
		t.Errorf("told %+v", got)
	}
}

// TestLastRunWithoutCost: the last run has its time also when its CLI does not
// tell what it costs, from the first look on.
func TestLastRunWithoutCost(t *testing.T) {
	t.Parallel()
	tp := newTape(t, "fake")
	_, err := tp.db.SetBudget(t.Context(), cw.BudgetAgent, tp.state.Agent.Alias, 1)
	must(t, err)
	tp.exec("UPDATE runs SET cost_usd = 2")
	f := tp.follower()
	defer f.close()
	f.state.Run.Reason = cw.RunBudget
	over := f.state.Run.CreatedAt.Add(lastRunMax)
	ended := 0
	if next := f.watchBudget(t.Context(), over.Add(-time.Second), func() { ended++ }); !next.Equal(over) || ended > 0 {
		t.Fatalf("the next look is at %s, ended %d times", next, ended)
	}
	if next := f.watchBudget(t.Context(), over, func() { ended++ }); !next.IsZero() || ended != 1 {
		t.Errorf("at its end: the next look is at %s, ended %d times", next, ended)
	}
	st, err := tp.db.RunState(t.Context(), tp.state.Run.ID)
	if must(t, err); st.Run.StopRequested != stopBudget {
		t.Errorf("stop %q", st.Run.StopRequested)
	}
}

// TestCostIsCountedOnce: between the moment at which the end of a run is stored
// and that at which nobody follows it any more, its cost is in its row only.
func TestCostIsCountedOnce(t *testing.T) {
	t.Parallel()
	g, hold := newGate("finish/stored")
	e := newEngine(t, hold, withPrices(t))
	req := e.costly(fakecli.Script{Raw: used("a", 0.6), Signal: `{"status":"done","noChanges":"none"}`})
	req.BudgetUSD = 1
	v := e.mustSpawn(req)
	<-g.reached
	list, err := e.db.Budgets(t.Context())
	must(t, err)
	rows, err := e.db.Costs(t.Context(), cw.CostQuery{By: cw.CostByAgent}, e.LiveSpends()...)
	must(t, err)
	if sum := cw.SumCosts(rows); !nearly(sum.CostUSD, 0.6) {
		t.Errorf("the costs are %+v", sum)
	}
	if list = e.WithLive(list); len(list) != 1 || !nearly(list[0].SpentUSD, 0.6) {
		t.Errorf("$0.60 are spent, and it says %+v", list)
	}
	close(g.open)
	e.rest(v.Alias)
}

// TestBudgetOfAnInitiative: its agents are ended like those of an account. No
// budget can be set of one that is not there.
func TestBudgetOfAnInitiative(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	if _, err := e.db.SetBudget(t.Context(), cw.BudgetInitiative, "spring", 1); cw.ErrorCode(err) != cw.CodeNotFound {
		t.Errorf("a budget of nothing: %v", err)
	}
	end := fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}
	var agents []cw.AgentView
	for range 2 {
		p, err := e.planAndRegister(t.Context(), e.costly(fakecli.Script{Raw: used("a", 0.3), Hang: true, Next: &end}), nil)
		must(t, err)
		p.intent.Agent.InitiativeID = "spring"
		must(t, e.spawn(t.Context(), p))
		agents = append(agents, e.until(p.intent.Agent.Alias, func(v cw.AgentView) bool { return v.CostUSD > 0 }))
	}
	other := e.mustSpawn(e.costly(fakecli.Script{Raw: used("a", 5), Hang: true}))
	e.exec("INSERT INTO budgets (scope, scope_id, limit_usd, set_at) VALUES ('initiative', 'spring', 1, '2026-11-22 00:00:00+00:00')")
	e.grow(agents[0], "b", 0.5) // 1.1 together
	first := e.until(agents[0].Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusStopped })
	e.grow(agents[1], "b", 0.01)
	second := e.until(agents[1].Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusStopped })
	for _, v := range []cw.AgentView{first, second} {
		if v.Reason != cw.ReasonBudget || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunBudget {
			t.Errorf("%s %s, %d runs", v.Status, v.Reason, len(v.Runs))
		}
	}
	if told := strings.Join(e.told(), "; "); told != "budget:spent initiative 1.10 of 1.00" {
		t.Error(told)
	}
	if v, err := e.Agent(t.Context(), other.Alias); err != nil || v.Status != cw.StatusRunning {
		t.Errorf("one of no initiative is %s, %v", v.Status, err)
	}
}

// TestPutOff: what a run finds out about an account counts for those that wait
// for it, too, and is told.
func TestPutOff(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withWallet(newWallet()))
	later := limitedOn("a", 7200)
	later.Wait = filepath.Join(e.books, "gate")
	e.sessions(does())
	e.pool("a")
	second := e.mustSpawn(e.sessions(later))
	first := e.exhausted("a", 3600)
	if first.Status != cw.StatusParked || time.Until(*first.RetryAt) > 61*time.Minute {
		t.Fatalf("%s until %v", first.Status, first.RetryAt)
	}
	must(t, writeFile(later.Wait, nil))
	e.until(second.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusParked })
	e.until(first.Alias, func(v cw.AgentView) bool { return time.Until(*v.RetryAt) > 100*time.Minute })
	parked := 0
	for _, ev := range e.events(cw.EventAgentParked) {
		if ev.AgentID == first.ID {
			parked++
		}
	}
	if parked != 2 {
		t.Errorf("it was told %d times that it is parked", parked)
	}
	if next, err := e.wakeDue(t.Context()); err != nil || time.Until(next) > parkedMost { // as it is
		t.Errorf("the next look is at %s, %v", next, err)
	}
	if n := len(e.events(cw.EventAgentParked)); n != 3 {
		t.Errorf("%d times in all", n)
	}
}
