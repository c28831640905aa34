package dispatch_test

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestHandBack: work that conflicts goes back to its agent, which goes on by
// itself, keeps its place in the queue, and comes to a person after two times.
// What another agent does after that is its own.
func TestHandBack(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		task := y.task(y.phase("Ground"), "one")
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		agent := y.wantTask(task, cw.TaskRunning).AgentID
		v, err := y.db.AgentView(y.Context(), string(agent))
		y.need(err)
		for _, n := range []string{"1", "2", "3"} {
			y.repos.conflicting("agent/" + v.Alias + "-" + n)
		}
		y.works(task)
		y.pass(soon)
		queued := y.mergeNow(task)
		for n := 1; n <= 2; n++ {
			m := y.mergeNow(task)
			if m.ID != queued.ID || m.Status != cw.MergeConflicted || m.Conflicts != n || !m.QueuedAt.Equal(queued.QueuedAt) {
				t.Fatalf("after %d conflicts: %+v", n, m)
			}
			y.wantTask(task, cw.TaskRunning)
			if v, err := y.db.AgentView(y.Context(), string(agent)); err != nil || v.Status != cw.StatusRunning || v.SessionNumber != n+1 {
				t.Fatalf("its agent is %s in run %d (%v)", v.Status, v.SessionNumber, err)
			}
			y.works(task)
			y.pass(soon)
		}
		blocked := y.wantTask(task, cw.TaskBlocked)
		if !strings.Contains(blocked.Blocked, "conflicts in README.md") || !strings.Contains(blocked.Blocked, "was asked 2 times") {
			t.Errorf("it is blocked: %q", blocked.Blocked)
		}
		_, err = d.RetryTask(y.Context(), task)
		y.need(err)
		y.pass(soon)
		if second := y.wantTask(task, cw.TaskRunning); second.AgentID == agent {
			t.Error("the same agent does it again")
		}
		y.works(task)
		y.pass(soon)
		y.wantTask(task, cw.TaskDone)
		if m := y.mergeNow(task); m.ID == queued.ID || m.Conflicts != 0 || m.Status != cw.MergeMerged {
			t.Errorf("it is merged by %+v", m)
		}
		if n := len(y.repos.moved()); n != 1 {
			t.Errorf("the branch was moved %d times", n)
		}
	})
}
