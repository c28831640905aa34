package store

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestRebuildNewerRun: a run that is newer than what is known of its agent says
// with what the agent went on; an older one does not.
func TestRebuildNewerRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusIdle)
	at := time.Now().UTC().Truncate(time.Second)
	for _, c := range []struct {
		session              int
		provider, want, from string
	}{
		{2, "codex", "codex", "session-2"},
		{1, "gemini", "codex", "session-2"},
	} {
		a := in.Agent
		a.Status, a.SessionNumber, a.SessionID, a.Provider, a.AccountID, a.Model = cw.StatusCrashed, c.session, "session-2", c.provider, cw.DefaultAccountID(c.provider), "small"
		run := cw.Run{ID: cw.RunID(cw.NewID()), AgentID: a.ID, Kind: cw.RunAgent, SessionNumber: c.session, Reason: cw.RunFailover, Provider: c.provider, Dir: "/x", StartedAt: &at, EndedAt: &at, CreatedAt: at}
		_, err := b.Rebuild(t.Context(), Rebuilt{Agent: a, Run: run})
		b.must(err)
		v := b.agent("brave-otter")
		got := []string{v.Provider, string(v.AccountID), v.Model, v.SessionID}
		same(t, "it goes on with", got, []string{c.want, "default-" + c.want, "small", c.from})
	}
}
