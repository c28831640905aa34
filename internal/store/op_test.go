package store

import (
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"
)

// settle makes an operation of an agent that is no run.
func settle(agent cw.AgentID, kind cw.OpKind) cw.Op {
	return cw.Op{ID: cw.OpID(cw.NewID()), Kind: kind, Status: cw.OpIntended, AgentID: agent}
}

func (b *bench) openOps(kinds ...cw.OpKind) []cw.Op {
	b.t.Helper()
	ops, err := b.OpenOps(b.t.Context(), kinds...)
	b.must(err)
	return ops
}

// agentOps gives all operations of an agent.
func (b *bench) agentOps(agent cw.AgentID) []cw.Op {
	b.t.Helper()
	var ops []cw.Op
	b.must(b.state.read.Where("agent_id = ?", agent).Order("rowid").Find(&ops).Error)
	return ops
}

// TestIntendOp: an agent has one operation that is no run at a time, and none
// while it lives.
func TestIntendOp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	kinds := []cw.OpKind{cw.OpCleanUp, cw.OpRemove}
	for i, status := range cw.AgentStatuses() {
		for _, kind := range kinds {
			in := b.agentAt(fmt.Sprintf("%s-%d", kind, i), status)
			err := b.IntendOp(t.Context(), settle(in.Agent.ID, kind))
			if !status.Alive() {
				b.must(err)
				continue
			}
			refuses(t, err, cw.CodeRefused, "is "+string(status))
		}
	}
	idle, gone := b.restingAgent("idle-ibis", cw.StatusIdle), b.restingAgent("gone-goat", cw.StatusIdle)
	b.removeAgent(gone.Agent.ID)
	refuses(t, b.IntendOp(t.Context(), settle(idle.Agent.ID, cw.OpRestore)), cw.CodeRefused, "is not removed")
	for _, kind := range kinds {
		refuses(t, b.IntendOp(t.Context(), settle(gone.Agent.ID, kind)), cw.CodeRefused, "cw agent restore gone-goat")
	}
	refuses(t, b.IntendOp(t.Context(), settle("nobody", cw.OpRemove)), cw.CodeNotFound, "nobody")
	refuses(t, b.IntendOp(t.Context(), settle(idle.Agent.ID, cw.OpResume)), cw.CodeInvalid, "resume")

	for _, open := range kinds {
		op := settle(idle.Agent.ID, open)
		b.must(b.IntendOp(t.Context(), op))
		for _, kind := range kinds {
			refuses(t, b.IntendOp(t.Context(), settle(idle.Agent.ID, kind)), cw.CodeRefused, "idle-ibis is not settled")
		}
		b.must(b.EndOp(t.Context(), op.ID, nil, "the disk is full"))
		if got := b.op(op.ID); got.Status != cw.OpFailed || got.Error != "the disk is full" {
			t.Errorf("failed: %+v", got)
		}
		refuses(t, b.EndOp(t.Context(), op.ID, nil, ""), cw.CodeRefused, "already failed")
	}
	refuses(t, b.EndOp(t.Context(), "nothing", nil, ""), cw.CodeNotFound, "nothing")
}

// TestOpenOps gives them by kind, oldest first, and the worktrees of what ended.
func TestOpenOps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.now = func() time.Time { return time.Unix(1_800_000_000, 0) } // one time for all
	one, two := b.restingAgent("one-owl", cw.StatusIdle), b.restingAgent("two-tit", cw.StatusIdle)
	first, second := settle(two.Agent.ID, cw.OpCleanUp), settle(one.Agent.ID, cw.OpRemove)
	b.must(b.IntendOp(t.Context(), first))
	b.must(b.IntendOp(t.Context(), second))
	b.must(b.SaveOpStep(t.Context(), first.ID, "cleanup/looked"))
	kinds := func(ops []cw.Op) (out []cw.OpKind) {
		for _, op := range ops {
			out = append(out, op.Kind)
		}
		return out
	}
	same(t, "all", kinds(b.openOps()), []cw.OpKind{cw.OpCleanUp, cw.OpRemove})
	same(t, "some", kinds(b.openOps(cw.OpRemove, cw.OpRestore)), []cw.OpKind{cw.OpRemove})
	same(t, "none", kinds(b.openOps(cw.OpRestore)), []cw.OpKind(nil))
	if !b.agent("one-owl").Settling || !b.agent("two-tit").Settling {
		t.Error("an agent with an open operation is settled")
	}
	trees := b.agent("two-tit").Projects
	trees[0].State = cw.WorktreeRemoved
	b.must(b.EndOp(t.Context(), first.ID, trees, ""))
	v := b.agent("two-tit")
	if v.Settling || v.WorktreeState != cw.WorktreeRemoved || b.op(first.ID).Status != cw.OpDone || b.op(first.ID).Step != "cleanup/looked" {
		t.Errorf("ended: %+v %+v", v, b.op(first.ID))
	}
	same(t, "left", kinds(b.openOps()), []cw.OpKind{cw.OpRemove})
}

// TestCleanUp: it is stored with the end of a run, is open after it, and over
// when the agent goes on first.
func TestCleanUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.runningAgent("brave-otter")
	f := finish(in, cw.StatusRunning, cw.StatusIdle)
	f.CleanUp = &cw.Op{ID: cw.OpID(cw.NewID())}
	_, err := b.FinishRun(t.Context(), f)
	b.must(err)
	open := b.openOps()
	if len(open) != 1 || open[0].ID != f.CleanUp.ID || open[0].Kind != cw.OpCleanUp || open[0].AgentID != in.Agent.ID || !b.agent("brave-otter").Settling {
		t.Fatalf("open: %+v", open)
	}
	b.must(b.IntendRun(t.Context(), nextRun(in.Agent.ID, 2)))
	if op := b.op(f.CleanUp.ID); op.Status != cw.OpDone || b.agent("brave-otter").Settling {
		t.Errorf("after the agent went on: %+v", op)
	}
	refuses(t, b.EndOp(t.Context(), f.CleanUp.ID, nil, ""), cw.CodeRefused, "already done")
}

// TestStopOp: a stop is one operation, which knows the last word and ends with
// the run; it is never what starts the run.
func TestStopOp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := intent("brave-otter", b.addProject("one"))
	b.must(b.IntendSpawn(t.Context(), in))
	b.must(b.SaveStarting(t.Context(), starting(in)))
	for _, how := range []string{stopTerm, stopTerm, stopKill, stopTerm} {
		_, err := b.RequestStop(t.Context(), in.Run.ID, how)
		b.must(err)
	}
	stops := b.openOps(cw.OpStop)
	if len(stops) != 1 || stops[0].Args != `{"how":"kill"}` || stops[0].AgentID != in.Agent.ID || stops[0].RunID != in.Run.ID {
		t.Fatalf("stops: %+v", stops)
	}
	state, err := b.RunState(t.Context(), in.Run.ID)
	b.must(err)
	if state.Op == nil || state.Op.ID != in.Op.ID {
		t.Errorf("what starts the run: %+v", state.Op)
	}
	f := finish(in, cw.StatusStarting, cw.StatusStopped)
	f.OpID, f.Reason = "", cw.ReasonUser
	_, err = b.FinishRun(t.Context(), f)
	b.must(err)
	if op := b.op(in.Op.ID); op.Status != cw.OpFailed || op.Error != string(cw.ReasonUser) {
		t.Errorf("the spawn: %+v", op)
	}
	if op := b.op(stops[0].ID); op.Status != cw.OpDone || op.Error != "" {
		t.Errorf("the stop: %+v", op)
	}
	if alive, err := b.RequestStop(t.Context(), in.Run.ID, stopKill); err != nil || alive || len(b.openOps()) != 0 {
		t.Errorf("a stop of a run that ended: %v %v %+v", alive, err, b.openOps())
	}
}

// TestAbortOnlySpawns: taking back deletes an agent, so nothing but its first,
// unfinished start may do it.
func TestAbortOnlySpawns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusIdle)
	next := nextRun(in.Agent.ID, 2, "go on")
	b.must(b.IntendRun(t.Context(), next))
	before := b.dump()
	for _, op := range []cw.OpID{next.Op.ID, in.Op.ID} {
		refuses(t, b.AbortSpawn(t.Context(), op), cw.CodeRefused, "no spawn that can be taken back")
		same(t, "rows", b.dump(), before)
	}
}
