package orchestrator

import (
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers/parsers"
)

// TestMustEndUnpriced: a run that budgets cannot hold ends at once, and the last one
// when its time is over.
func TestMustEndUnpriced(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		last *lastRun
		end  bool
		next time.Duration
	}{
		"a usual run":      {nil, true, 0},
		"the last run":     {&lastRun{Since: now.Add(-time.Minute)}, false, lastRunMax - time.Minute},
		"its time is over": {&lastRun{Since: now.Add(-lastRunMax)}, true, 0},
	} {
		end, next := mustEndUnpriced(tt.last, now)
		if end != tt.end || !next.IsZero() && next.Sub(now) != tt.next || next.IsZero() != (tt.next == 0) {
			t.Errorf("%s: %v, look at %v", name, end, next)
		}
	}
}

// TestUnpricedText: models without a price are named, with the budgets that do not
// count them.
func TestUnpricedText(t *testing.T) {
	t.Parallel()
	one := budgets{budgetLine(5, 0)}
	if text := unpricedText(one, nil) + unpricedText(nil, []string{"m"}); text != "" {
		t.Errorf("nothing is to be said: %q", text)
	}
	text := unpricedText(one, []string{"m-1", "", "m-1"})
	for _, want := range []string{`the model "m-1" and a model that the CLI does not name`, budgetOf(one[0]), "prices.yaml"} {
		if !strings.Contains(text, want) || strings.Count(text, want) != 1 {
			t.Errorf("%q does not say %q once", text, want)
		}
	}
}

// TestWithoutPrice: where runs that budgets cannot hold are to end, such an agent
// gets a last run when its run was ended, and none when it ended by itself.
func TestWithoutPrice(t *testing.T) {
	t.Parallel()
	done := &cw.Signal{Status: cw.SignalDone, Result: "all", NoChanges: "none"}
	for name, tt := range map[string]struct {
		e      evidence
		status cw.AgentStatus
		reason cw.Reason
		next   cw.RunReason
	}{
		"it is ended for it":    {evidence{Overspent: true}, cw.StatusStopped, cw.ReasonBudget, cw.RunBudget},
		"it is done":            {evidence{Signal: done}, cw.StatusIdle, "", ""},
		"it ended by itself":    {evidence{}, cw.StatusStopped, cw.ReasonBudget, ""},
		"the last run is ended": {evidence{Reason: cw.RunBudget, Overspent: true}, cw.StatusStopped, cw.ReasonBudget, ""},
		"the last run is over":  {evidence{Reason: cw.RunBudget}, cw.StatusStopped, cw.ReasonBudget, ""},
		"a person stopped it":   {evidence{StopRequested: stopTerm}, cw.StatusStopped, cw.ReasonUser, ""},
	} {
		tt.e.State, tt.e.Output, tt.e.Unwatched = proc.StateExited, 1, "no price is known"
		v := outcome(tt.e)
		var next cw.RunReason
		if v.Next != nil {
			if next = v.Next.Reason; v.Next.Why != tt.e.Unwatched {
				t.Errorf("%s: the last run is told %q", name, v.Next.Why)
			}
		}
		if v.Status != tt.status || v.Reason != tt.reason || next != tt.next || v.Next == nil && v.Reason == cw.ReasonBudget && !strings.Contains(v.Error, tt.e.Unwatched) {
			t.Errorf("%s: %s %s, then %q: %s", name, v.Status, v.Reason, next, v.Error)
		}
	}
}

// TestUnpricedRun: a run under a budget whose model has no price is warned of once,
// counts as unpriced, and is ended only where that is wanted.
func TestUnpricedRun(t *testing.T) {
	t.Parallel()
	for _, stop := range []bool{false, true} {
		tp := newTape(t, "fake")
		_, err := tp.db.SetBudget(t.Context(), cw.BudgetAgent, tp.state.Agent.Alias, 1)
		must(t, err)
		f := tp.follower()
		f.o.StopUnpriced = stop
		must(t, f.setMeter(t.Context()))
		f.summary = parsers.Summary{Model: "no-such-model", Usage: cw.Usage{InputTokens: 5, OutputTokens: 5}}
		ended := 0
		for range 3 {
			f.watchBudget(t.Context(), time.Now(), func() { ended++ })
		}
		if ended > 0 != stop {
			t.Errorf("stop %v: ended %d times", stop, ended)
		}
		v, err := tp.db.AgentView(t.Context(), string(tp.state.Agent.ID))
		must(t, err)
		if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], `"no-such-model"`) {
			t.Errorf("stop %v: warned %q", stop, v.Warnings)
		}
		f.close()
	}
}
