package store

import (
	"fmt"
	"testing"

	"cw/internal/cw"
)

// TestStopWaiting: who waits for an account or for answers is stopped, and takes
// what nobody answered back; any other agent stays as it is.
func TestStopWaiting(t *testing.T) {
	t.Parallel()
	stopped := event(cw.EventAgentStopped, "x")
	for _, tt := range []struct {
		status  cw.AgentStatus
		removed bool
		refused string // "": it is stopped
	}{
		{cw.StatusParked, false, ""},
		{cw.StatusWaitingForInput, false, ""},
		{cw.StatusWaitingForInput, true, "is removed"},
		{cw.StatusIdle, false, "is idle"},
		{cw.StatusCrashed, false, "is crashed"},
		{cw.StatusStopped, false, "is stopped"},
	} {
		t.Run(fmt.Sprintf("%s, removed %v", tt.status, tt.removed), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			in := b.restingAgent("brave-otter", tt.status, "a", "b")
			if tt.removed {
				b.removeAgent(in.Agent.ID)
			}
			before, open := b.agent("brave-otter"), b.agent("brave-otter").PendingQuestions
			err := b.StopWaiting(t.Context(), in.Agent.ID, stopped)
			after := b.agent("brave-otter")
			if tt.refused != "" {
				refuses(t, err, cw.CodeRefused, tt.refused)
				same(t, "status", after.Status, tt.status)
				same(t, "open questions", after.PendingQuestions, open)
				return
			}
			b.must(err)
			same(t, "status", after.Status, cw.StatusStopped)
			same(t, "reason", after.Reason, cw.ReasonUser)
			left, reason := len(open), ""
			if before.Status == cw.StatusWaitingForInput {
				left, reason = 0, cw.WithdrawnStopped
			}
			same(t, "open questions", len(after.PendingQuestions), left)
			for _, q := range open {
				now, err := b.QuestionByID(t.Context(), string(q.ID))
				b.must(err)
				same(t, "reason", now.Reason, reason)
			}
		})
	}
}
