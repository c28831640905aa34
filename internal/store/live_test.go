package store

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestLiveRuns: the short form is the long one without the rest, at every
// stage of a run, and is found by its index.
func TestLiveRuns(t *testing.T) {
	b := newBench(t)
	b.must(b.IntendSpawn(t.Context(), intent("a-pending", b.addProject("one"))))
	b.runningAgent("b-running")
	done := b.runningAgent("c-done")
	check := func(want int) {
		t.Helper()
		live, err := b.LiveRuns(t.Context())
		b.must(err)
		states, err := b.UnfinishedRuns(t.Context())
		b.must(err)
		if len(live) != want || len(states) != want {
			t.Fatalf("%d live, %d unfinished, want %d", len(live), len(states), want)
		}
		for i, r := range live {
			if s := states[i].Run; r.ID != s.ID || r.AgentID != s.AgentID || string(r.Handle) != string(s.Handle) {
				t.Errorf("%+v, want %s of %s: %s", r, s.ID, s.AgentID, s.Handle)
			}
		}
	}
	check(3)
	_, err := b.FinishRun(t.Context(), finish(done, cw.StatusRunning, cw.StatusIdle))
	b.must(err)
	check(2)

	var plan struct{ Detail string }
	b.must(b.state.read.Raw("EXPLAIN QUERY PLAN " + liveRuns).Scan(&plan).Error)
	if !strings.Contains(plan.Detail, "runs_unfinished") {
		t.Errorf("it is asked at every request and looks through all runs: %s", plan.Detail)
	}
}
