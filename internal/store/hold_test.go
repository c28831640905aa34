package store

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// TestHold: a clean-up that was put off is stored when the hold is over, once,
// for an idle agent; one that was put off again stays held.
func TestHold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	id := b.restingAgent("brave-otter", cw.StatusIdle).Agent.ID
	cleanUp := settle(id, cw.OpCleanUp)
	b.must(b.IntendOp(ctx, cleanUp))
	opening := settle(id, cw.OpOpen)
	b.must(b.IntendOp(ctx, opening)) // puts the clean-up off
	if b.op(cleanUp.ID).Status != cw.OpDone {
		t.Error("the clean-up is open")
	}
	v := b.agent("brave-otter")
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	b.must(b.OpenWorktrees(ctx, cw.Opening{AgentID: id, OpID: opening.ID, Worktrees: v.Projects, Until: until}))
	held, err := b.HeldAgents(ctx)
	b.must(err)
	if len(held) != 1 || !held[0].HeldUntil.Equal(until) || b.agent("brave-otter").Settling {
		t.Fatalf("held: %+v", held)
	}
	ends := func(want bool) {
		t.Helper()
		due, err := b.EndHold(ctx, settle(id, cw.OpCleanUp), until)
		b.must(err)
		if open := len(b.openOps(cw.OpCleanUp)); due != want || open > 1 || due != (open == 1) {
			t.Errorf("due %v, %d open, want %v", due, open, want)
		}
	}
	b.must(b.HoldWorktrees(ctx, id, until.Add(time.Minute)))
	ends(false)
	b.must(b.HoldWorktrees(ctx, id, until))
	ends(true)
	b.must(b.PutOffCleanUp(ctx, id))
	ends(false) // nothing is held
	b.must(b.HoldWorktrees(ctx, id, until))
	ends(true)
}

// TestHoldKeeps: an agent that is not idle keeps its worktrees when a hold ends,
// and so does one whose worktrees were there all the time.
func TestHoldKeeps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, now := t.Context(), time.Now()
	for alias, c := range map[string]struct {
		status cw.AgentStatus
		gone   bool
	}{"brave-otter": {cw.StatusStopped, true}, "calm-bear": {cw.StatusIdle, false}} {
		id := b.restingAgent(alias, c.status).Agent.ID
		op := settle(id, cw.OpOpen)
		b.must(b.IntendOp(ctx, op))
		b.must(b.OpenWorktrees(ctx, cw.Opening{AgentID: id, OpID: op.ID, Until: now, CleanUp: c.gone}))
		due, err := b.EndHold(ctx, settle(id, cw.OpCleanUp), now.Add(time.Second))
		b.must(err)
		if due || b.agent(alias).HeldUntil != nil {
			t.Errorf("%s: due %v, held until %v", alias, due, b.agent(alias).HeldUntil)
		}
	}
	gone := b.restingAgent("old-crow", cw.StatusIdle).Agent.ID
	b.removeAgent(gone)
	refuses(t, b.HoldWorktrees(ctx, gone, now), cw.CodeRefused, "is removed")
	refuses(t, b.IntendOp(ctx, settle(gone, cw.OpOpen)), cw.CodeRefused, "is removed")
}
