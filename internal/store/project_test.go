package store

import (
	"testing"

	"cw/internal/cw"
)

// TestProjectPolicies changes one after the other.
func TestProjectPolicies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.addProject("one")
	stored, err := b.ProjectByRef(t.Context(), "one")
	b.must(err)
	if stored.Stall != cw.StallEvent || stored.AutoResume {
		t.Errorf("policies of a new project: %+v", stored)
	}
	resume, yes, never := cw.StallResume, true, cw.StallPolicy("never")
	ev := event(cw.EventProjectChanged, "x")
	_, err = b.SetProject(t.Context(), p.ID, cw.ProjectSettings{Stall: &resume}, ev)
	b.must(err)
	set, err := b.SetProject(t.Context(), p.ID, cw.ProjectSettings{AutoResume: &yes}, ev)
	b.must(err)
	if stored, err = b.ProjectByRef(t.Context(), "one"); err != nil || stored.Stall != cw.StallResume || !stored.AutoResume || stored.Name != "one" {
		t.Errorf("changed: %+v, %v", stored, err)
	}
	same(t, "what it gives", set, stored)
	before := b.dump()
	_, err = b.SetProject(t.Context(), p.ID, cw.ProjectSettings{Stall: &never}, ev)
	refuses(t, err, cw.CodeInvalid, "event or resume")
	_, err = b.SetProject(t.Context(), p.ID, cw.ProjectSettings{}, ev)
	refuses(t, err, cw.CodeInvalid, "no setting")
	_, err = b.SetProject(t.Context(), "nothing", cw.ProjectSettings{AutoResume: &yes}, ev)
	refuses(t, err, cw.CodeNotFound, "cw project list")
	same(t, "rows", b.dump(), before)
}

// TestRemoveProjectOfTrashed: a project stays while work of removed agents can
// come back into it.
func TestRemoveProjectOfTrashed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := b.restingAgent("brave-otter", cw.StatusIdle)
	id := in.Worktrees[0].ProjectID
	b.removeAgent(in.Agent.ID)
	before := b.dump()
	refuses(t, b.RemoveProject(t.Context(), id, event(cw.EventProjectRemoved, "x")), cw.CodeRefused, "in the trash or in snapshots: brave-otter")
	same(t, "rows", b.dump(), before)
	trashed, err := b.TrashedWorktrees(t.Context())
	b.must(err)
	tree := trashed[0].AgentWorktree
	b.must(b.SavePurged(t.Context(), tree, event(cw.EventAgentPurged, "x")))
	refuses(t, b.RemoveProject(t.Context(), id, event(cw.EventProjectRemoved, "x")), cw.CodeRefused, "or in snapshots: brave-otter")
	tree.State, tree.Trash, tree.TrashedAt, tree.KeepRef = cw.WorktreeRemoved, "", nil, ""
	b.must(b.SaveDropped(t.Context(), tree, event(cw.EventAgentPurged, "x")))
	b.must(b.RemoveProject(t.Context(), id, event(cw.EventProjectRemoved, "x")))
}
