package dispatch_test

import (
	"context"
	"testing"

	"cw/internal/cw"
)

// TestPause: while it is paused nothing is started and nothing merged, agents
// work on, and the next daemon finds it so; while it drains, what is done is
// merged.
func TestPause(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var one, two, decision cw.TaskID
	inYardAt(t, dir, func(y *yard) {
		y.open()
		ph := y.phase("Ground")
		one = y.task(ph, "one")
		d, end := y.daemon()
		y.pass(soon)
		y.wantTask(one, cw.TaskRunning)
		y.state(d, cw.DispatchPaused)
		two = y.task(ph, "two")
		decision = y.task(ph, "decision", func(r *cw.CreateTaskRequest) { r.Type = cw.TaskCheckpointDecide })
		y.works(one)
		y.pass(soon)
		y.wantTask(one, cw.TaskVerifying)
		y.wantTask(two, cw.TaskPending)
		if why := y.waits(d, two); why.Code != cw.WaitPaused {
			t.Errorf("it waits for %+v", why)
		}
		if n := len(y.crew.checked()); n > 0 {
			t.Errorf("%d checks were run", n)
		}
		// What a person has to decide can be decided: it starts nobody.
		y.wantTask(decision, cw.TaskReady)
		end()
	})
	inYardAt(t, dir, func(y *yard) {
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		y.wantTask(one, cw.TaskVerifying)
		y.wantTask(two, cw.TaskPending)
		y.state(d, cw.DispatchDraining)
		y.pass(soon)
		y.wantTask(one, cw.TaskDone)
		y.wantTask(two, cw.TaskPending)
		y.state(d, cw.DispatchRunning)
		y.pass(soon)
		y.wantTask(two, cw.TaskRunning)
		if n := y.events(cw.EventDispatchChanged); n != 2 {
			t.Errorf("it was told %d times", n)
		}
		if _, err := d.SetDispatch(y.Context(), cw.DispatchRequest{State: "asleep"}); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("a state that is none: %v", err)
		}
	})
}

// TestPauseWhileChecked: a check that goes on when people pause comes to its end,
// and the branch stays where it is until they let it go on. Nothing is checked
// twice.
func TestPauseWhileChecked(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		green := make(chan struct{})
		y.crew.check = func(context.Context, cw.CommandRun) (cw.CommandResult, error) {
			<-green
			return cw.CommandResult{OK: true}, nil
		}
		task := y.task(y.phase("Ground"), "one")
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		y.works(task)
		y.pass(soon)
		y.state(d, cw.DispatchPaused)
		close(green)
		y.pass(soon)
		y.wantTask(task, cw.TaskVerifying)
		if moves := y.repos.moved(); len(moves) > 0 {
			t.Errorf("the branch was moved to %v while it was paused", moves)
		}
		y.state(d, cw.DispatchRunning)
		y.pass(soon)
		y.wantTask(task, cw.TaskDone)
		if n := len(y.crew.checked()); n != 1 {
			t.Errorf("it was checked %d times", n)
		}
	})
}
