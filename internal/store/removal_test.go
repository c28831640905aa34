package store

import (
	"testing"
	"time"

	"cw/internal/cw"
)

// removeAgent removes an agent on the proper way, its worktrees into the trash.
func (b *bench) removeAgent(agent cw.AgentID) {
	b.t.Helper()
	ctx, op := b.t.Context(), settle(agent, cw.OpRemove)
	b.must(b.IntendOp(ctx, op))
	now := time.Now()
	trees := b.agent(string(agent)).Projects
	for i := range trees {
		trees[i].State, trees[i].Trash, trees[i].TrashedAt = cw.WorktreeTrashed, "/trash/"+string(agent), &now
		trees[i].KeepRef, trees[i].KeepCommit, trees[i].KeepWhole = "refs/cw/keep/x", "c0mmit", true
	}
	b.must(b.RemoveAgent(ctx, cw.Removal{AgentID: agent, OpID: op.ID, Worktrees: trees, Events: []cw.Event{event(cw.EventAgentRemoved, "x").About(agent, "")}}))
}

// TestRemoveAndRestore: a removed agent is seen only where it is asked for, and
// all of it comes back.
func TestRemoveAndRestore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusWaitingForInput, "Which?", "When?")
	b.restingAgent("calm-bear", cw.StatusIdle) // stays
	b.exec("UPDATE messages SET delivered_at = created_at")
	b.answerOne("brave-otter", 0)
	b.queue(in.Agent.ID, "waits")
	before, told := b.agent("brave-otter"), len(b.toldEvents())
	b.removeAgent(in.Agent.ID)

	same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventQuestionWithdrawn, cw.EventAgentRemoved})
	v := b.agent("brave-otter")
	if v.DeletedAt == nil || len(v.PendingQuestions) != 0 || v.QueuedMessages != 0 || v.Settling || v.WorktreeState != cw.WorktreeTrashed ||
		v.Projects[0].KeepRef == "" || v.Status != cw.StatusWaitingForInput {
		t.Errorf("removed: %+v", v)
	}
	same(t, "listed", b.names(cw.AgentFilter{}), []string{"calm-bear"})
	same(t, "removed ones", b.names(cw.AgentFilter{Removed: true}), []string{"brave-otter"})
	if _, err := b.AgentByRef(t.Context(), "brave-otter"); err != nil {
		t.Errorf("it cannot be found: %v", err)
	}
	trashed, err := b.TrashedWorktrees(t.Context())
	b.must(err)
	if len(trashed) != 1 || trashed[0].Alias != "brave-otter" || trashed[0].Trash == "" || trashed[0].TrashedAt == nil || !trashed[0].KeepWhole {
		t.Errorf("in the trash: %+v", trashed)
	}

	op := settle(in.Agent.ID, cw.OpRestore)
	b.must(b.IntendOp(t.Context(), op))
	if !b.agent("brave-otter").Settling {
		t.Error("it is restored, and settled")
	}
	told = len(b.toldEvents())
	b.must(b.RestoreAgent(t.Context(), cw.Restoring{
		AgentID: in.Agent.ID, OpID: op.ID, Worktrees: before.Projects, Events: []cw.Event{event(cw.EventAgentRestored, "x")},
	}))
	same(t, "events", b.toldTypes(told), []cw.EventType{cw.EventQuestionRequested, cw.EventAgentRestored})
	after := b.agent("brave-otter")
	after.UpdatedAt = before.UpdatedAt
	same(t, "restored", after, before)
	same(t, "listed", b.names(cw.AgentFilter{}), []string{"calm-bear", "brave-otter"})
	if open := b.openOps(); len(open) != 0 {
		t.Errorf("open: %+v", open)
	}
	b.answer("brave-otter")
	next := nextRun(in.Agent.ID, 2, "answers")
	b.must(b.IntendRun(t.Context(), next))
	same(t, "texts", b.runTexts(next.Run.ID), []string{"waits", "answers"})
}

func (b *bench) names(f cw.AgentFilter) []string {
	b.t.Helper()
	page, err := b.AgentViews(b.t.Context(), f)
	b.must(err)
	var names []string
	for _, v := range page.Items {
		names = append(names, v.Alias)
	}
	return names
}

// TestRemovalRefuses: each refusal changes nothing.
func TestRemovalRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	idle, busy, gone := b.restingAgent("idle-ibis", cw.StatusIdle), b.runningAgent("busy-bee"), b.restingAgent("gone-goat", cw.StatusIdle)
	other := b.restingAgent("other-ox", cw.StatusIdle)
	b.removeAgent(gone.Agent.ID)
	removal, cleanUp, restore := settle(idle.Agent.ID, cw.OpRemove), settle(other.Agent.ID, cw.OpCleanUp), settle(gone.Agent.ID, cw.OpRestore)
	for _, op := range []cw.Op{removal, cleanUp, restore} {
		b.must(b.IntendOp(t.Context(), op))
	}
	remove := func(agent cw.AgentID, op cw.OpID) error {
		return b.RemoveAgent(t.Context(), cw.Removal{AgentID: agent, OpID: op})
	}
	bring := func(agent cw.AgentID, op cw.OpID) error {
		return b.RestoreAgent(t.Context(), cw.Restoring{AgentID: agent, OpID: op})
	}
	for _, c := range []struct {
		name, text string
		code       cw.Code
		do         func() error
	}{
		{"remove a running agent", "cw agent stop busy-bee", cw.CodeRefused, func() error { return remove(busy.Agent.ID, removal.ID) }},
		{"remove twice", "is removed", cw.CodeRefused, func() error { return remove(gone.Agent.ID, removal.ID) }},
		{"remove nobody", "nobody", cw.CodeNotFound, func() error { return remove("nobody", removal.ID) }},
		{"remove by nothing", "no operation nothing", cw.CodeNotFound, func() error { return remove(idle.Agent.ID, "nothing") }},
		{"remove by another's", "no removal of the agent idle-ibis", cw.CodeRefused, func() error { return remove(idle.Agent.ID, cleanUp.ID) }},
		{"remove by its clean-up", "no removal of the agent other-ox", cw.CodeRefused, func() error { return remove(other.Agent.ID, cleanUp.ID) }},
		{"remove by another's removal", "no removal of the agent other-ox", cw.CodeRefused, func() error { return remove(other.Agent.ID, removal.ID) }},
		{"remove by what is over", "already done", cw.CodeRefused, func() error { return remove(idle.Agent.ID, idle.Op.ID) }},
		{"restore what is there", "is not removed", cw.CodeRefused, func() error { return bring(idle.Agent.ID, restore.ID) }},
		{"restore by another's", "no restoring of the agent gone-goat", cw.CodeRefused, func() error { return bring(gone.Agent.ID, removal.ID) }},
		{"restore nobody", "nobody", cw.CodeNotFound, func() error { return bring("nobody", restore.ID) }},
	} {
		before := b.dump()
		refuses(t, c.do(), c.code, c.text)
		same(t, "rows after: "+c.name, b.dump(), before)
	}
}

// TestPurged: what left the trash is listed no more, and what was restored in
// the meantime is not touched.
func TestPurged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var trashed []cw.TrashedWorktree
	for _, alias := range []string{"one-owl", "two-tit"} {
		b.removeAgent(b.restingAgent(alias, cw.StatusIdle).Agent.ID)
	}
	list := func() (names []string) {
		trees, err := b.TrashedWorktrees(t.Context())
		b.must(err)
		trashed = trees
		for _, w := range trees {
			names = append(names, w.Alias)
		}
		return names
	}
	same(t, "oldest first", list(), []string{"one-owl", "two-tit"})
	purged := trashed[0].AgentWorktree
	b.must(b.SavePurged(t.Context(), purged, event(cw.EventAgentPurged, "x")))
	same(t, "left", list(), []string{"two-tit"})
	v := b.agent("one-owl")
	if w := v.Projects[0]; w.State != cw.WorktreeRemoved || w.Trash != "" || w.TrashedAt != nil || w.KeepRef == "" || v.DeletedAt == nil {
		t.Errorf("purged: %+v", w)
	}
	before := b.dump()
	refuses(t, b.SavePurged(t.Context(), purged, event(cw.EventAgentPurged, "x")), cw.CodeRefused, "not in the trash")
	same(t, "rows", b.dump(), before)
}
