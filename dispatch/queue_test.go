package dispatch

import (
	"context"
	"testing"

	"cw/internal/cw"
)

// queueStore takes down how work is queued.
type queueStore struct {
	Store
	moved []cw.MergeMove
}

func (s *queueStore) AgentView(context.Context, string) (cw.AgentView, error) {
	return cw.AgentView{Projects: []cw.AgentWorktree{{ProjectID: "shop", Commits: 1, BaseCommit: "a", HeadCommit: "b"}}}, nil
}

func (s *queueStore) ProjectByRef(context.Context, string) (cw.Project, error) {
	return cw.Project{}, nil
}

func (s *queueStore) MoveMerge(_ context.Context, m cw.MergeMove) (bool, error) {
	s.moved = append(s.moved, m)
	return true, nil
}

type noneReserved struct{ Repos }

func (noneReserved) Reserved(context.Context, cw.Project, string, string) ([]string, error) {
	return nil, nil
}

// TestQueuesTheWorkOfAnotherAgent: when an agent failed on a conflict, the work of
// the next one keeps the place in the queue, and is that one's: it gets its own
// conflicts back. An agent that mended its work goes on with its count.
func TestQueuesTheWorkOfAnotherAgent(t *testing.T) {
	t.Parallel()
	had := cw.Merge{ID: "merge", TaskID: "task", AgentID: "first", Status: cw.MergeConflicted, Conflicts: 2, Reds: 1, Evidence: "hunks"}
	for _, tt := range []struct {
		agent           cw.AgentID
		conflicts, reds int
	}{{"first", 2, 1}, {"second", 0, 0}} {
		store := &queueStore{}
		d := New(Config{Store: store, Repos: noneReserved{}})
		task := cw.Task{ID: "task", AgentID: tt.agent, Status: cw.TaskRunning}
		if err := d.queue(t.Context(), World{}, &task, &had); err != nil {
			t.Fatal(err)
		}
		m := store.moved[0].Merge
		if m.ID != had.ID || m.AgentID != tt.agent || m.Conflicts != tt.conflicts || m.Reds != tt.reds || m.Status != cw.MergeQueued {
			t.Errorf("the work of the %s agent is queued as %+v", tt.agent, m)
		}
	}
}
