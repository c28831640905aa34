package store

import (
	"testing"
	"time"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// TestProviderRuns: runs count with the provider that they had, those of removed
// agents too, and those that never started do not.
func TestProviderRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Date(2026, 3, 2, 23, 59, 59, 0, time.UTC)
	b.spent("one-otter", at, func(_ *cw.SpawnIntent, f *cw.Finish) { f.UnknownLines = 3 })
	two := b.spent("two-otter", at, func(_ *cw.SpawnIntent, f *cw.Finish) { f.UnknownLines = 4 })
	b.spent("tre-otter", at, func(in *cw.SpawnIntent, _ *cw.Finish) { in.Agent.Provider = "codex" })
	b.exec("UPDATE agents SET deleted_at = created_at WHERE id = '" + string(two.Agent.ID) + "'")
	b.agentAt("new-otter", cw.StatusPending)
	got, err := b.ProviderRuns(t.Context())
	b.must(err)
	want := map[string]cw.ProviderRuns{"script": {Runs: 2, UnknownLines: 7}, "codex": {Runs: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
