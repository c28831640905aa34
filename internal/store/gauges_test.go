package store

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestGauges counts what is in the rows: removed agents no longer, their runs
// still, the runs that go on, and none of another kind.
func TestGauges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run()
	empty, err := b.Gauges(t.Context())
	b.must(err)
	same(t, "of nothing", empty, Gauges{})
	b.runningAgent("one")
	b.runningAgent("two")
	over := b.runningAgent("three")
	done, err := b.FinishRun(t.Context(), finish(over, cw.StatusRunning, cw.StatusIdle))
	if err != nil || !done {
		t.Fatal(done, err)
	}
	removed := b.runningAgent("four")
	b.exec("UPDATE agents SET deleted_at = ? WHERE id = ?", time.Now(), removed.Agent.ID)
	b.addCheck(over.Agent.ID)
	got, err := b.Gauges(t.Context())
	b.must(err)
	last, err := b.LastEventSeq(t.Context())
	b.must(err)
	provider, reason := over.Agent.Provider, over.Run.Reason
	want := Gauges{
		Agents: []AgentCount{{cw.StatusIdle, 1}, {cw.StatusRunning, 2}},
		Runs: []RunCount{
			{Provider: provider, Reason: reason, Count: 3},
			{Provider: provider, Reason: reason, Outcome: cw.StatusIdle, Count: 1},
		},
		LastEvent: last,
	}
	if last == 0 || provider == "" {
		t.Fatalf("the bench made %d events for provider %q", last, provider)
	}
	got.Runs[1].OutcomeReason = "" // of the bench's own choice
	same(t, "of three", got, want)
	if n := b.Waiting(); n != 0 {
		t.Errorf("%d calls wait", n)
	}
}
