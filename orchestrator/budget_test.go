package orchestrator

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/proc"
	"cw/providers"
	"cw/providers/parsers"
)

func budgetLine(limit, spent float64) cw.Budget {
	return cw.Budget{Scope: cw.BudgetAgent, ScopeID: "a", Name: "otter", LimitUSD: limit, SpentUSD: spent}
}

// TestMustEnd: a usual run ends when a budget is spent; the last one has a time
// and an allowance of its own.
func TestMustEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	last := func(age time.Duration, usd float64) *lastRun { return &lastRun{Since: now.Add(-age), USD: usd} }
	open, near, spent := budgetLine(10, 7.99), budgetLine(10, 8), budgetLine(10, 10)
	for _, tt := range []struct {
		name string
		b    budgets
		last *lastRun
		end  bool
		next time.Duration // from now; 0: none
		near int
	}{
		{"no budget", nil, nil, false, 0, 0},
		{"open", budgets{open}, nil, false, 0, 0},
		{"near", budgets{near, open}, nil, false, 0, 1},
		{"spent", budgets{open, near, spent}, nil, true, 0, 1},
		{"more than spent", budgets{budgetLine(10, 1000)}, nil, true, 0, 0},
		{"the last run", budgets{spent}, last(time.Minute, 0), false, lastRunMax - time.Minute, 0},
		{"its time is over", budgets{spent}, last(lastRunMax, 0), true, 0, 0},
		{"nearly spent too much", budgets{spent}, last(0, 1.99), false, lastRunMax, 0},
		{"its allowance is spent", budgets{spent}, last(0, 2), true, 0, 0},
		{"the smallest limit counts", budgets{spent, budgetLine(1, 1)}, last(0, 0.2), true, 0, 0},
		{"of those that are spent", budgets{spent, budgetLine(1, 0.5)}, last(0, 0.2), false, lastRunMax, 0},
		{"the limit was raised", budgets{open}, last(time.Hour, 5), false, 0, 0},
	} {
		end, next := mustEnd(tt.b, tt.last, now)
		if end != tt.end || next.IsZero() != (tt.next == 0) || tt.next > 0 && !next.Equal(now.Add(tt.next)) || len(tt.b.near()) != tt.near {
			t.Errorf("%s: end %t, next %s, near %d", tt.name, end, next, len(tt.b.near()))
		}
	}
}

// TestMustEndNeverEarlyNorLate: whatever the amounts, a usual run ends exactly
// when one of its budgets is spent, and more spending never lets it go on. The
// last one ends at its time at the latest.
func TestMustEndNeverEarlyNorLate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	now := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	for range 20_000 {
		var b budgets
		spent := false
		for range rng.IntN(4) {
			one := budgetLine(math.Exp(rng.NormFloat64()*3), math.Exp(rng.NormFloat64()*3))
			b, spent = append(b, one), spent || one.SpentUSD >= one.LimitUSD
		}
		if end, _ := mustEnd(b, nil, now); end != spent {
			t.Fatalf("%+v: end %t", b, end)
		}
		last := &lastRun{Since: now.Add(-time.Duration(rng.Int64N(int64(2 * lastRunMax)))), USD: math.Exp(rng.NormFloat64() * 3)}
		end, next := mustEnd(b, last, now)
		switch {
		case end && !spent:
			t.Fatalf("%+v: the last run ends with money left", b)
		case spent && !end && (next.After(last.Since.Add(lastRunMax)) || !next.After(now)):
			t.Fatalf("%+v: the next look is at %s", b, next)
		case end:
			more := *last
			more.USD *= 1 + rng.Float64()
			if still, _ := mustEnd(b, &more, now.Add(time.Second)); !still {
				t.Fatalf("%+v: it goes on when it costs more", b)
			}
		}
	}
}

// TestWithinBudget: what an agent says counts; what cw would add does not.
func TestWithinBudget(t *testing.T) {
	t.Parallel()
	spent := budgets{budgetLine(5, 5.2)}
	done := &cw.Signal{Status: cw.SignalDone, Result: "all", NoChanges: "none"}
	asks := &cw.Signal{Status: cw.SignalQuestions, Questions: []cw.SignalQuestion{{Text: "Which?"}}}
	account := cw.Account{ID: "b"}
	limited := parsers.Summary{Limit: &cw.Limit{Text: "limit"}}
	for _, tt := range []struct {
		name   string
		e      evidence
		status cw.AgentStatus
		reason cw.Reason
		next   cw.RunReason
	}{
		{"a person stops it", evidence{StopRequested: stopTerm, Spent: spent}, cw.StatusStopped, cw.ReasonUser, ""},
		{"it is ended for it", evidence{Overspent: true, Spent: spent}, cw.StatusStopped, cw.ReasonBudget, cw.RunBudget},
		{"raised just then", evidence{Overspent: true}, cw.StatusStopped, cw.ReasonBudget, cw.RunBudget},
		{"it was just done", evidence{Overspent: true, Spent: spent, Signal: done}, cw.StatusIdle, "", ""},
		{"it just asked", evidence{Overspent: true, Spent: spent, Signal: asks}, cw.StatusWaitingForInput, "", ""},
		{"done, and spent", evidence{Spent: spent, Signal: done}, cw.StatusIdle, "", ""},
		{"no signal, and spent", evidence{Spent: spent}, cw.StatusCrashed, cw.ReasonNoSignal, cw.RunBudget},
		{"no signal", evidence{}, cw.StatusCrashed, cw.ReasonNoSignal, cw.RunMissingSignal},
		{"silent, and spent", evidence{Spent: spent, Stalled: &stallEnd{}}, cw.StatusStopped, cw.ReasonStalled, cw.RunBudget},
		{"at a limit, and spent", evidence{Spent: spent, Summary: limited, Reserve: &reserve{Next: &successor{Account: account}}}, cw.StatusCrashed, cw.ReasonUsageLimit, cw.RunBudget},
		{"parked, and spent", evidence{Spent: spent, Summary: limited, Reserve: &reserve{}}, cw.StatusParked, cw.ReasonUsageLimit, ""},
		{"a plain program", evidence{Overspent: true, Spent: spent, NoRetries: true}, cw.StatusStopped, cw.ReasonBudget, ""},
		{"the last run is done", evidence{Reason: cw.RunBudget, Spent: spent, Signal: done}, cw.StatusStopped, cw.ReasonBudget, ""},
		{"the last run asks", evidence{Reason: cw.RunBudget, Spent: spent, Signal: asks}, cw.StatusWaitingForInput, "", ""},
		{"the last run says nothing", evidence{Reason: cw.RunBudget, Spent: spent}, cw.StatusStopped, cw.ReasonBudget, ""},
		{"the last run is ended", evidence{Reason: cw.RunBudget, Overspent: true, Spent: spent}, cw.StatusStopped, cw.ReasonBudget, ""},
		{"the last run is at a limit", evidence{Reason: cw.RunBudget, Spent: spent, Summary: limited, Reserve: &reserve{}}, cw.StatusStopped, cw.ReasonBudget, ""},
		{"the last run found no session", evidence{Reason: cw.RunBudget, Spent: spent, Resumed: true, SessionGone: true}, cw.StatusCrashed, cw.ReasonNoSignal, cw.RunBudget},
		{"the last run, raised meanwhile", evidence{Reason: cw.RunBudget, Signal: done}, cw.StatusIdle, "", ""},
	} {
		tt.e.State, tt.e.Output = proc.StateExited, 1
		v := outcome(tt.e)
		var next cw.RunReason
		if v.Next != nil {
			next = v.Next.Reason
		}
		if v.Status != tt.status || v.Reason != tt.reason || next != tt.next {
			t.Errorf("%s: %s %s, then %q", tt.name, v.Status, v.Reason, next)
		}
		if v.Next != nil && tt.e.Reserve != nil && v.Next.To != tt.e.Reserve.Next {
			t.Errorf("%s: the other account is forgotten", tt.name)
		}
		told := strings.Contains(v.Error+strings.Join(v.Warnings, ""), "$5.20 of $5.00") || v.Next != nil && strings.Contains(v.Next.Why, "$5.20 of $5.00")
		if want := len(tt.e.Spent) > 0 && tt.e.StopRequested == "" && (next != cw.RunBudget || !tt.e.SessionGone); told != want {
			t.Errorf("%s: told %t: %q %q", tt.name, told, v.Error, v.Warnings)
		}
	}
}

// TestNoRunBeyondABudget: whatever else is known of the end of a run, with a
// spent budget only the last run follows, and nothing follows that one.
func TestNoRunBeyondABudget(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	coin := func() bool { return rng.IntN(2) == 0 }
	reasons := []cw.RunReason{cw.RunSpawn, cw.RunBudget, cw.RunMissingSignal, cw.RunCommit, cw.RunFollowUp, cw.RunFailover}
	for range 20_000 {
		e := evidence{
			Mode: cw.ModeExecute, State: proc.StateExited, Output: int64(rng.IntN(2)), Reason: reasons[rng.IntN(len(reasons))],
			Overspent: coin(), Rebooted: coin(), AutoResume: coin(), NoRetries: coin(), Derived: coin(), StderrAuth: coin(),
			Spent: budgets{budgetLine(1, 1+rng.Float64())}, Retries: cw.Retries{Signal: rng.IntN(3), Stall: rng.IntN(3)},
			Trees: []treeEvidence{{Project: "shop"}},
		}
		if coin() {
			e.State = proc.StateLost
		}
		if coin() {
			e.Signal = &cw.Signal{Status: []cw.SignalStatus{cw.SignalDone, cw.SignalQuestions, cw.SignalError}[rng.IntN(3)], Questions: []cw.SignalQuestion{{Text: "?"}}}
		}
		if coin() {
			e.Summary.Limit = &cw.Limit{}
		}
		if coin() {
			e.Reserve = &reserve{Renewed: coin(), Next: &successor{}}
		}
		if coin() {
			e.Stalled = &stallEnd{}
		}
		v := outcome(e)
		if v.Next != nil && (v.Next.Reason != cw.RunBudget || e.Reason == cw.RunBudget) {
			t.Fatalf("after %+v\nfollows %+v", e, *v.Next)
		}
		if v.Next == nil && e.Overspent && v.Status == cw.StatusStopped && v.Error == "" {
			t.Fatalf("after %+v\nit is stopped without a word", e)
		}
	}
}

// costly gives the engine a provider that tells tokens, and prices for them:
// $1 for a million read.
func (e *engine) costly(s fakecli.Script) cw.SpawnRequest {
	e.t.Helper()
	self, err := os.Executable()
	must(e.t, err)
	preset := strings.Replace(fakecli.SessionPreset("costly", self, e.books), "parser: lines", "parser: claude\nmodelArgs: [[--model, \"{{model}}\"]]", 1)
	must(e.t, os.WriteFile(filepath.Join(e.home.Providers(), "costly.yaml"), []byte(preset), 0o600))
	req := e.request(s)
	req.Provider, req.Model = "costly", "dollar-1"
	return req
}

// withPrices is a table in which a million tokens of dollar-1 cost a dollar.
func withPrices(t *testing.T) setup {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prices.yaml")
	must(t, os.WriteFile(file, []byte("prices: [{model: dollar-1, input: 1, output: 1}]\n"), 0o600))
	prices, problem := providers.LoadPrices(file)
	if problem != nil {
		t.Fatal(problem)
	}
	return func(c *Config) { c.Prices = prices }
}

// used is what the CLI writes about a request of so many dollars.
func used(id string, usd float64) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":%d,"output_tokens":0}}}`+"\n", id, int(math.Round(usd*1e6)))
}

// grow lets a CLI that hangs have made another request.
func (e *engine) grow(v cw.AgentView, id string, usd float64) { e.adds(v, used(id, usd)) }

// adds writes to the output of an agent's last run, as its CLI would.
func (e *engine) adds(v cw.AgentView, text string) {
	e.t.Helper()
	f, err := os.OpenFile(v.OutputPath, os.O_APPEND|os.O_WRONLY, 0)
	must(e.t, err)
	_, err = f.WriteString(text)
	must(e.t, err)
	must(e.t, f.Close())
}

// told are the events about budgets, in order.
func (e *engine) told() (out []string) {
	e.t.Helper()
	for _, ev := range e.events(cw.EventBudgetWarning, cw.EventBudgetSpent) {
		var b cw.BudgetReached
		must(e.t, json.Unmarshal(ev.Data, &b))
		out = append(out, fmt.Sprintf("%s %s %.2f of %.2f", ev.Type, b.Scope, b.SpentUSD, b.LimitUSD))
	}
	return out
}

// nearly tells whether two amounts are the same to a hundredth of a cent.
func nearly(a, b float64) bool { return math.Abs(a-b) < 1e-4 }

// TestBudget: an agent is warned once, then ended, asked once to commit, and
// stopped. What it cost is known while it runs. Another run is refused until
// somebody sets another limit.
func TestBudget(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	gate := filepath.Join(e.books, "gate")
	last := fakecli.Script{Raw: used("l", 0.01), File: "half.txt", Content: "half\n", Commit: "Keep what there is", Signal: `{"status":"done","result":"half of it"}`}
	req := e.costly(fakecli.Script{Raw: used("a", 0.85), Call: []string{"sh", "-c", "until test -e " + gate + "; do sleep 0.05; done"}, Hang: true, Next: &last})
	req.BudgetUSD = 1
	v := e.mustSpawn(req)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return len(v.Warnings) > 0 })
	if !nearly(v.CostUSD, 0.85) || v.Runs[0].CostSource != cw.CostFromTable || v.Usage.InputTokens != 850_000 || v.Status != cw.StatusRunning {
		t.Errorf("while it runs: %s, $%v by %s, %+v", v.Status, v.CostUSD, v.Runs[0].CostSource, v.Usage)
	}
	list, err := e.db.Budgets(t.Context())
	must(t, err)
	rows, err := e.db.Costs(t.Context(), cw.CostQuery{By: cw.CostByAgent}, e.LiveSpends()...)
	must(t, err)
	if sum := cw.SumCosts(rows); !nearly(sum.CostUSD, 0.85) || sum.UnderWay != 1 {
		t.Errorf("the costs with the run under way: %+v", sum)
	}
	if list = e.WithLive(list); len(list) != 1 || !nearly(list[0].SpentUSD, 0.85) || list[0].WarnedAt == nil || list[0].SpentAt != nil {
		t.Errorf("%+v", list)
	}
	if _, err := e.db.SetBudget(t.Context(), cw.BudgetAgent, v.Alias, 0.5); err != nil { // it has more than that behind it
		t.Fatal(err)
	}
	e.grow(v, "b", 0.05)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusStopped })
	if v.Reason != cw.ReasonBudget || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunBudget || v.Commits() != 1 || !nearly(v.CostUSD, 0.91) ||
		v.Runs[0].StopRequested != stopBudget || v.Runs[0].OutcomeReason != cw.ReasonBudget || !strings.Contains(v.Error, "$0.91 of $0.50") || v.Result != "half of it" {
		t.Errorf("%s %s: %s; $%v, runs %+v", v.Status, v.Reason, v.Error, v.CostUSD, v.Runs)
	}
	if prompt, err := os.ReadFile(filepath.Join(v.Runs[1].Dir, promptFile)); err != nil || !strings.Contains(string(prompt), "<budget_spent>") {
		t.Errorf("it was asked %q, %v", prompt, err)
	}
	if diff := cmp.Diff([]string{"budget:warning agent 0.85 of 1.00", "budget:spent agent 0.90 of 0.50"}, e.told()); diff != "" {
		t.Error(diff)
	}
	e.refusesRuns(v)
}

// refusesRuns checks that a stopped agent gets no other run before its limit is
// raised.
func (e *engine) refusesRuns(v cw.AgentView) {
	e.t.Helper()
	ctx := e.t.Context()
	_, err := e.Resume(ctx, v.Alias, cw.ResumeRequest{Text: fakecli.Script{Signal: `{"status":"done","noChanges":"more"}`, Book: e.books}.Text(), Env: map[string]string{"PATH": os.Getenv("PATH")}})
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw budget set agent "+v.Alias) {
		e.t.Errorf("resume: %v (%s)", err, cw.ErrorHint(err))
	}
	_, err = e.db.SetBudget(ctx, cw.BudgetAgent, v.Alias, 5)
	must(e.t, err)
	_, err = e.Resume(ctx, v.Alias, cw.ResumeRequest{Text: fakecli.Script{Signal: `{"status":"done","noChanges":"more"}`, Book: e.books}.Text(), Env: map[string]string{"PATH": os.Getenv("PATH")}})
	must(e.t, err)
	if v := e.rest(v.Alias); v.Status != cw.StatusIdle || len(v.Runs) != 3 {
		e.t.Errorf("after the limit was raised: %s %s, %d runs", v.Status, v.Error, len(v.Runs))
	}
}

// TestLastRunIsBounded: an agent that works on in its last run is ended, and not
// asked again.
func TestLastRunIsBounded(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	req := e.costly(fakecli.Script{Raw: used("a", 1), Hang: true, Next: &fakecli.Script{Raw: used("b", 0.15), Hang: true}})
	req.BudgetUSD = 1
	v := e.mustSpawn(req)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return len(v.Runs) == 2 && nearly(v.CostUSD, 1.15) })
	e.grow(v, "c", 0.01)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return nearly(v.CostUSD, 1.16) })
	if v.Status != cw.StatusRunning || v.Runs[1].StopRequested != "" {
		t.Errorf("within its allowance it is %s, stop %q", v.Status, v.Runs[1].StopRequested)
	}
	e.grow(v, "d", 0.05)
	v = e.until(v.Alias, func(v cw.AgentView) bool { return v.Status == cw.StatusStopped })
	if v.Reason != cw.ReasonBudget || len(v.Runs) != 2 || v.Runs[1].StopRequested != stopBudget || !nearly(v.CostUSD, 1.21) {
		t.Errorf("%s %s, $%v, runs %+v", v.Status, v.Reason, v.CostUSD, v.Runs)
	}
}

// TestBudgetAtTheEnd: a CLI that tells its cost at its end only has spent the
// budget by then. What it says counts, and its texts wait.
func TestBudgetAtTheEnd(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	gate := filepath.Join(e.books, "gate")
	req := e.costly(fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`, Linger: gate})
	req.BudgetUSD = 1
	v := e.mustSpawn(req)
	eventually(t, "its signal", func() bool {
		_, err := os.Stat(filepath.Join(v.AgentCwd, cw.SignalPath))
		return err == nil
	})
	e.adds(v, `{"type":"result","subtype":"success","is_error":false,"result":"ok","num_turns":1,"total_cost_usd":2.5}`+"\n")
	must(t, os.WriteFile(gate, nil, 0o600))
	v = e.rest(v.Alias)
	if v.Status != cw.StatusIdle || len(v.Runs) != 1 || v.Runs[0].CostSource != cw.CostFromCLI || v.CostUSD != 2.5 || !slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.Contains(w, "$2.50 of $1.00") }) {
		t.Errorf("%s %s, $%v, %q", v.Status, v.Reason, v.CostUSD, v.Warnings)
	}
	_, err := e.Send(t.Context(), v.Alias, cw.SendRequest{Text: fakecli.Script{Book: e.books, Signal: `{"status":"done","noChanges":"more"}`}.Text()})
	must(t, err)
	must(t, e.goOnOnce(t.Context(), v.ID))
	if v, err = e.Agent(t.Context(), v.Alias); err != nil || v.QueuedMessages != 1 || len(v.Runs) != 1 {
		t.Errorf("%d texts wait, %d runs, %v", v.QueuedMessages, len(v.Runs), err)
	}
	_, err = e.db.SetBudget(t.Context(), cw.BudgetAgent, v.Alias, 0)
	must(t, err)
	must(t, e.BudgetsChanged(t.Context()))
	e.until(v.Alias, func(v cw.AgentView) bool { return len(v.Runs) == 2 && v.Status == cw.StatusIdle })
}

// TestBudgetRefusesAnswers: an agent that asks when its budget is spent keeps its
// questions, and takes no answer before there is money for another run.
func TestBudgetRefusesAnswers(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	script := asks()
	script.Pieces, script.Raw = 0, used("a", 2)
	v := e.asked(e.costly(script))
	_, err := e.db.SetBudget(t.Context(), cw.BudgetAgent, v.Alias, 1)
	must(t, err)
	if err := e.answer(v, "SQLite"); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw budget set agent "+v.Alias) {
		t.Errorf("the answer: %v (%s)", err, cw.ErrorHint(err))
	}
	_, err = e.db.SetBudget(t.Context(), cw.BudgetAgent, v.Alias, 0)
	must(t, err)
	must(t, e.answer(v, "SQLite"))
	e.until(v.Alias, func(v cw.AgentView) bool { return len(v.Runs) == 2 && v.Status == cw.StatusIdle })
}

// TestLiveCostOfASession: a CLI that counts its whole session has the tokens of
// earlier runs in its count; they are not paid twice.
func TestLiveCostOfASession(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	req := e.costly(fakecli.Script{Raw: used("a", 0.3), Signal: `{"status":"done","noChanges":"none"}`, Next: &fakecli.Script{Raw: used("b", 0.5), Hang: true}})
	file := filepath.Join(e.home.Providers(), "costly.yaml")
	preset, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, append(preset, "usage: session\n"...), 0o600))
	v := e.rest(e.mustSpawn(req).Alias)
	_, err = e.Resume(t.Context(), v.Alias, cw.ResumeRequest{Env: map[string]string{"PATH": os.Getenv("PATH")}})
	must(t, err)
	e.until(v.Alias, func(v cw.AgentView) bool { return nearly(v.CostUSD, 0.5) && nearly(v.Runs[1].CostUSD, 0.2) })
	v, err = e.Stop(t.Context(), v.Alias, cw.StopRequest{Now: true})
	if err != nil || !nearly(v.CostUSD, 0.5) {
		t.Errorf("at its end it cost $%v, %v", v.CostUSD, err)
	}
}

// TestSharedBudget: agents of one account are each asked once, what they cost
// together counts, and none is started any more.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	e := newEngine(t, withPrices(t))
	end := fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}
	gate := filepath.Join(e.books, "gate")
	first := e.mustSpawn(e.costly(fakecli.Script{Raw: used("a", 0.6), Hang: true, Next: &end}))
	second := e.mustSpawn(e.costly(fakecli.Script{Raw: used("a", 0.3), Call: []string{"sh", "-c", "until test -e " + gate + "; do sleep 0.05; done"}, Hang: true, Next: &end}))
	for _, v := range []cw.AgentView{first, second} {
		e.until(v.Alias, func(v cw.AgentView) bool { return v.CostUSD > 0 })
	}
	_, err := e.db.SetBudget(t.Context(), cw.BudgetAccount, "costly/default", 1)
	must(t, err)
	e.grow(first, "b", 0.2) // 1.1 together
	stopped := func(v cw.AgentView) bool { return v.Status == cw.StatusStopped }
	v := e.until(first.Alias, stopped)
	e.grow(second, "b", 0.01)
	w := e.until(second.Alias, stopped)
	for _, v := range []cw.AgentView{v, w} {
		if v.Reason != cw.ReasonBudget || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunBudget {
			t.Errorf("%s %s, %d runs", v.Status, v.Reason, len(v.Runs))
		}
	}
	if diff := cmp.Diff([]string{"budget:spent account 1.10 of 1.00"}, e.told()); diff != "" {
		t.Error(diff)
	}
	_, err = e.Spawn(t.Context(), e.costly(end))
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "cw budget set account costly/default") {
		t.Errorf("another agent: %v (%s)", err, cw.ErrorHint(err))
	}
}

// TestBudgetAcrossDaemons: a daemon that dies after it told that a budget is
// spent, or asked for the end of the run, leaves the rest to the next one.
func TestBudgetAcrossDaemons(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"budget/told", "budget/requested", "finish/observed", "finish/stored"} {
		t.Run(strings.ReplaceAll(step, "/", "-"), func(t *testing.T) {
			t.Parallel()
			prices := withPrices(t)
			g, hold := newGate(step)
			e := newEngine(t, hold, prices)
			req := e.costly(fakecli.Script{Raw: used("a", 1.5), Hang: true, Next: &fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}})
			req.BudgetUSD = 1
			agent := e.mustSpawn(req)
			<-g.reached
			stopped := make(chan struct{})
			go func() { defer close(stopped); e.stopRun() }()
			eventually(t, "the daemon lets go", e.letsGo)
			close(g.open)
			<-stopped
			e.boot(prices)
			v := e.until(agent.Alias, func(v cw.AgentView) bool { return len(v.Runs) == 2 && v.Status == cw.StatusStopped })
			if v.Reason != cw.ReasonBudget || v.Runs[0].OutcomeReason != cw.ReasonBudget || v.Runs[1].Reason != cw.RunBudget || !nearly(v.CostUSD, 1.5) {
				t.Errorf("%s %s, $%v; the first run %s", v.Status, v.Reason, v.CostUSD, v.Runs[0].OutcomeReason)
			}
			if told := e.told(); len(told) != 1 {
				t.Errorf("told %q", told)
			}
		})
	}
}
