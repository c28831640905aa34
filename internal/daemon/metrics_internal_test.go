package daemon

import (
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/store"

	"github.com/google/go-cmp/cmp"
)

// TestRunMetrics: a run that goes on was started and has no outcome, and what
// differs only in what a metric does not tell is one sample of it.
func TestRunMetrics(t *testing.T) {
	t.Parallel()
	crashed := func(provider string, reason cw.Reason, count int) store.RunCount {
		return store.RunCount{Provider: provider, Reason: cw.RunSpawn, Outcome: cw.StatusCrashed, OutcomeReason: reason, Count: count}
	}
	again := crashed("codex", cw.ReasonUsageLimit, 20)
	again.Reason = "commit"
	var out strings.Builder
	err := writeMetrics(&out, families(measured{rows: store.Gauges{Runs: []store.RunCount{
		again, crashed("codex", cw.ReasonUsageLimit, 1), crashed("codex", cw.ReasonAuth, 2), crashed("claude", cw.ReasonStartFailed, 3),
		crashed("claude", cw.ReasonNoSignal, 4), {Provider: "claude", Reason: cw.RunSpawn, Count: 5},
		{Provider: "claude", Reason: cw.RunSpawn, Outcome: cw.StatusIdle, Count: 6},
	}}}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		for _, name := range []string{"cw_runs{", "cw_run_starts_total{", "cw_provider_errors_total{"} {
			if strings.HasPrefix(line, name) {
				got = append(got, strings.TrimSpace(line))
			}
		}
	}
	want := []string{
		`cw_runs{outcome="crashed",reason="auth",provider="codex"} 2`,
		`cw_runs{outcome="crashed",reason="no_signal",provider="claude"} 4`,
		`cw_runs{outcome="crashed",reason="start_failed",provider="claude"} 3`,
		`cw_runs{outcome="crashed",reason="usage_limit",provider="codex"} 21`,
		`cw_runs{outcome="idle",reason="",provider="claude"} 6`,
		`cw_run_starts_total{reason="commit",provider="codex"} 20`,
		`cw_run_starts_total{reason="spawn",provider="claude"} 18`,
		`cw_run_starts_total{reason="spawn",provider="codex"} 3`,
		`cw_provider_errors_total{provider="claude",bucket="start"} 3`,
		`cw_provider_errors_total{provider="codex",bucket="auth"} 2`,
		`cw_provider_errors_total{provider="codex",bucket="limit"} 21`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
