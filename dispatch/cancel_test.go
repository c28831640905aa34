package dispatch_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
)

// restTime is longer than the time between two looks when nothing is told.
const restTime = 6 * time.Second

// TestCancelWhileItRuns: the agent of a task that is cancelled is stopped, once,
// wherever it stands: while it is made, while it works, and while it is parked.
// Its worktree and its work stay, and nothing of it is merged.
func TestCancelWhileItRuns(t *testing.T) {
	t.Parallel()
	t.Run("it works", func(t *testing.T) {
		t.Parallel()
		inYard(t, func(y *yard) {
			y.open()
			task := y.task(y.phase("Ground"), "one")
			_, end := y.daemon()
			defer end()
			y.pass(soon)
			agent := y.wantTask(task, cw.TaskRunning).AgentID
			y.cancel(task)
			y.pass(10 * restTime)
			wantStopped(y, task, agent, cw.StatusRunning)
		})
	})
	t.Run("it is parked", func(t *testing.T) {
		t.Parallel()
		inYard(t, func(y *yard) {
			y.open()
			task := y.task(y.phase("Ground"), "one")
			_, end := y.daemon()
			defer end()
			y.pass(soon)
			agent := y.wantTask(task, cw.TaskRunning).AgentID
			later := time.Now().Add(time.Hour)
			y.ends(task, func(f *cw.Finish) { f.Status, f.RetryAt = cw.StatusParked, &later })
			y.pass(soon)
			y.wantTask(task, cw.TaskRunning)
			y.cancel(task)
			y.pass(10 * restTime)
			wantStopped(y, task, agent, cw.StatusParked)
		})
	})
	t.Run("it waits for answers", func(t *testing.T) {
		t.Parallel()
		inYard(t, func(y *yard) {
			y.open()
			task := y.task(y.phase("Ground"), "one")
			_, end := y.daemon()
			defer end()
			y.pass(soon)
			agent := y.wantTask(task, cw.TaskRunning).AgentID
			y.ends(task, func(f *cw.Finish) { f.Status = cw.StatusWaitingForInput })
			y.pass(soon)
			y.wantTask(task, cw.TaskRunning)
			y.cancel(task)
			y.pass(10 * restTime)
			wantStopped(y, task, agent, cw.StatusWaitingForInput)
		})
	})
	t.Run("it is made", func(t *testing.T) {
		t.Parallel()
		inYard(t, func(y *yard) {
			y.open()
			task := y.task(y.phase("Ground"), "one")
			setUp := make(chan struct{})
			y.crew.made = func() { <-setUp }
			_, end := y.daemon()
			defer end()
			y.pass(soon)
			agent := y.wantTask(task, cw.TaskRunning).AgentID
			y.cancel(task)
			y.pass(10 * restTime)
			wantStopped(y, task, agent, cw.StatusPending)
			close(setUp)
			y.pass(restTime)
			y.wantTask(task, cw.TaskCancelled)
		})
	})
}

func wantStopped(y *yard, task cw.TaskID, agent cw.AgentID, from cw.AgentStatus) {
	y.Helper()
	y.wantTask(task, cw.TaskCancelled)
	if got := y.crew.stops(); !slices.Equal(got, []string{string(from)}) {
		y.Errorf("agents were stopped that were %v", got)
	}
	v, err := y.db.AgentView(y.Context(), string(agent))
	y.need(err)
	if v.Status != cw.StatusStopped || v.DeletedAt != nil {
		y.Errorf("its agent is %s, removed %v", v.Status, v.DeletedAt)
	}
	if _, found, err := y.db.MergeOfTask(y.Context(), task); err != nil || found {
		y.Errorf("its work is queued (%v)", err)
	}
	if n := y.crew.count(task); n != 1 {
		y.Errorf("it was started %d times", n)
	}
	if n := y.log.count("ERROR"); n > 0 {
		y.Errorf("%d errors are logged:\n%s", n, y.log)
	}
}

// TestCancelWhileChecked: the check of a task that is cancelled, closed, or whose
// agent works again, is ended, and what comes after it in the queue does not wait
// for it. It is no error.
func TestCancelWhileChecked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		act    func(y *yard, id cw.TaskID)
		task   cw.TaskStatus
		merges cw.MergeStatus
	}{
		"cancelled": {func(y *yard, id cw.TaskID) { y.cancel(id) }, cw.TaskCancelled, cw.MergeDismissed},
		"closed": {func(y *yard, id cw.TaskID) {
			done := cw.TaskDone
			_, err := y.EditTask(y.Context(), id, cw.TaskEdit{Status: &done})
			y.need(err)
		}, cw.TaskDone, cw.MergeDismissed},
		"worked on again": {func(y *yard, id cw.TaskID) { y.need(y.crew.GoOn(y.Context(), y.taskNow(id).AgentID)) }, cw.TaskRunning, cw.MergeConflicted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inYard(t, func(y *yard) {
				y.open()
				ph := y.phase("Ground")
				first, second := y.task(ph, "first"), y.task(ph, "second")
				stopped, checks := 0, 0
				y.crew.check = func(ctx context.Context, r cw.CommandRun) (cw.CommandResult, error) {
					if checks++; checks > 1 {
						return cw.CommandResult{OK: true}, nil
					}
					select {
					case <-r.Stop:
						stopped++
						return cw.CommandResult{Failed: "test", Reason: "stopped by somebody", Outside: true}, nil
					case <-ctx.Done():
						return cw.CommandResult{}, ctx.Err()
					}
				}
				_, end := y.daemon()
				defer end()
				y.pass(soon)
				y.works(first)
				y.pass(soon)
				y.works(second)
				y.pass(soon)
				if m := y.mergeNow(second); m.Status != cw.MergeQueued {
					t.Errorf("the second one is %s beside the first", m.Status)
				}
				tt.act(y, first)
				y.pass(restTime)
				y.wantTask(first, tt.task)
				if m := y.mergeNow(first); m.Status != tt.merges || stopped != 1 {
					t.Errorf("the merge is %s, its check was ended %d times", m.Status, stopped)
				}
				y.wantTask(second, cw.TaskDone)
				if n := len(y.repos.moved()); n != 1 {
					t.Errorf("the branch was moved %d times", n)
				}
				if n := y.log.count("ERROR"); n > 0 {
					t.Errorf("%d errors are logged:\n%s", n, y.log)
				}
			})
		})
	}
}

// TestCancelWhileQueued: work whose task is cancelled before it is its turn is
// dismissed.
func TestCancelWhileQueued(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		task := y.task(y.phase("Ground"), "one")
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		y.state(d, cw.DispatchPaused)
		y.works(task)
		y.pass(soon)
		y.cancel(task)
		y.pass(soon)
		if m := y.mergeNow(task); m.Status != cw.MergeDismissed || y.events(cw.EventMergeDismissed) != 1 {
			t.Errorf("the merge is %s, told %d times", m.Status, y.events(cw.EventMergeDismissed))
		}
		y.state(d, cw.DispatchRunning)
		y.pass(restTime)
		if n := len(y.repos.moved()); n > 0 {
			t.Errorf("the branch was moved %d times", n)
		}
	})
}

// TestChecksLeftBehind: a check that goes on when its daemon dies is taken up by
// the next one while it is wanted. It is ended when its task was cancelled
// meanwhile, and when the branch moved on, so that another commit is checked.
func TestChecksLeftBehind(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		meanwhile func(y *yard, id cw.TaskID)
		ended     bool
		status    cw.TaskStatus
		runs      int // different ones
	}{
		"wanted":         {func(*yard, cw.TaskID) {}, false, cw.TaskDone, 1},
		"cancelled":      {func(y *yard, id cw.TaskID) { y.cancel(id) }, true, cw.TaskCancelled, 1},
		"another commit": {func(y *yard, _ cw.TaskID) { y.repos.elsewhere(y.in.ID) }, true, cw.TaskDone, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inYard(t, func(y *yard) {
				y.open()
				task := y.task(y.phase("Ground"), "one")
				y.crew.check = func(ctx context.Context, _ cw.CommandRun) (cw.CommandResult, error) {
					<-ctx.Done()
					return cw.CommandResult{}, ctx.Err()
				}
				_, end := y.daemon()
				y.pass(soon)
				y.works(task)
				y.pass(soon)
				end()
				first := y.crew.checked()
				tt.meanwhile(y, task)
				y.crew.check = nil
				_, end = y.daemon()
				defer end()
				y.pass(restTime)
				y.wantTask(task, tt.status)
				if ended := slices.Contains(y.crew.ended, first[0]); len(first) != 1 || ended != tt.ended {
					t.Errorf("of %v these were ended: %v", first, y.crew.ended)
				}
				all := y.crew.checked()
				slices.Sort(all)
				if n := len(slices.Compact(all)); n != tt.runs {
					t.Errorf("there were %d runs of checks", n)
				}
			})
		})
	}
}
