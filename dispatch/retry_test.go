package dispatch_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

// gaps runs a task whose agent ends the same way again and again, and gives how
// long after each end the next agent was made. It ends when the task waits for
// good, or after most agents.
func gaps(y *yard, task cw.TaskID, most int, how func(*cw.Finish)) []time.Duration {
	y.Helper()
	var out []time.Duration
	for n := 1; n <= most; n++ {
		y.ends(task, how)
		ended := time.Now()
		for y.crew.count(task) == n {
			y.pass(soon)
			if y.taskNow(task).Status == cw.TaskBlocked || time.Since(ended) > time.Hour {
				return out
			}
		}
		y.crew.mu.Lock()
		at := y.crew.started[len(y.crew.started)-1].at
		y.crew.mu.Unlock()
		out = append(out, at.Sub(ended).Round(time.Second))
		y.pass(soon)
	}
	return out
}

// pauses are those before new tries.
func pauses() []time.Duration {
	return []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 300 * time.Second, 300 * time.Second}
}

// TestRetry: a task that fails is started again after 10 seconds, then twice as
// long each time, at most 5 minutes; when its tries are used up it is blocked,
// with evidence.
func TestRetry(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		y.retries = len(pauses())
		task := y.task(y.phase("Ground"), "one")
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		if got := gaps(y, task, 100, crashes(cw.ReasonKilled)); !slices.Equal(got, pauses()) {
			t.Errorf("it was started again after %v", got)
		}
		blocked := y.wantTask(task, cw.TaskBlocked)
		if !strings.Contains(blocked.Blocked, "crashed (killed): the tool broke") || blocked.RetryAt != nil || y.events(cw.EventTaskBlocked) != 1 {
			t.Errorf("it is blocked: %q, retried at %v, told %d times", blocked.Blocked, blocked.RetryAt, y.events(cw.EventTaskBlocked))
		}
		if why := y.waits(d, task); why.Code != cw.WaitBlocked || !strings.Contains(why.Text, "the tool broke") || !strings.Contains(why.Hint, "cw dispatch retry "+string(task)) {
			t.Errorf("it waits for %+v", why)
		}
		y.pass(20 * time.Minute)
		if n := y.crew.count(task); n != 1+len(pauses()) {
			t.Errorf("it was started %d times", n)
		}
		// A person lets it begin anew, with all tries; its agent is told what failed.
		_, err := d.RetryTask(y.Context(), task)
		y.need(err)
		y.pass(soon)
		if got := y.wantTask(task, cw.TaskRunning); got.Tries != 0 {
			t.Errorf("it has used %d tries", got.Tries)
		}
		y.crew.mu.Lock()
		all := y.crew.called[task]
		y.crew.mu.Unlock()
		if goal := all[len(all)-1].Goal; !strings.Contains(goal, "the tool broke") {
			t.Errorf("its agent is told %q", goal)
		}
		keys := map[string]bool{}
		for _, req := range all {
			keys[req.RequestKey] = true
		}
		if len(keys) != len(all) {
			t.Errorf("%d requests have %d keys", len(all), len(keys))
		}
	})
}

// TestRetryOutside: what lies outside of the task uses up no try, however often it
// comes, and the pauses grow all the same. A limit is waited for to its end.
func TestRetryOutside(t *testing.T) {
	t.Parallel()
	for _, reason := range []cw.Reason{cw.ReasonUsageLimit, cw.ReasonAuth, cw.ReasonReboot, cw.ReasonLost} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			inYard(t, func(y *yard) {
				y.open()
				y.retries = 0
				task := y.task(y.phase("Ground"), "one")
				_, end := y.daemon()
				defer end()
				y.pass(soon)
				if got := gaps(y, task, len(pauses()), crashes(reason)); !slices.Equal(got, pauses()) {
					t.Errorf("it was started again after %v", got)
				}
				if got := y.taskNow(task); got.Tries != 0 || got.Setbacks != len(pauses()) {
					t.Errorf("%d tries are used up, and there were %d setbacks", got.Tries, got.Setbacks)
				}
				back := time.Now().Add(20 * time.Minute)
				y.ends(task, func(f *cw.Finish) { crashes(reason)(f); f.RetryAt = &back })
				n := y.crew.count(task)
				y.pass(20*time.Minute - time.Minute)
				if y.crew.count(task) != n {
					t.Error("it was started before its limit ended")
				}
				y.pass(2 * time.Minute)
				y.wantTask(task, cw.TaskRunning)
				y.ends(task, crashes(cw.ReasonKilled)) // its own, at last
				y.pass(soon)
				y.wantTask(task, cw.TaskBlocked)
			})
		})
	}
}

// TestRetryStart: a task that cannot be started for a reason that passes waits
// and is started again; when it does not pass a person has to look. What failed
// by itself uses up tries.
func TestRetryStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code  cw.Code
		calls int // until it is blocked
	}{"little space": {cw.CodeRefused, 6}, "its set-up fails": {cw.CodeFailed, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inYard(t, func(y *yard) {
				y.open()
				refused := true
				y.crew.refuse = func(cw.SpawnRequest) error {
					if refused {
						return cw.Errorf(tt.code, "there is %s", name).WithHint("do something")
					}
					return nil
				}
				task := y.task(y.phase("Ground"), "one")
				d, end := y.daemon()
				defer end()
				y.pass(time.Hour)
				blocked := y.wantTask(task, cw.TaskBlocked)
				if !strings.Contains(blocked.Blocked, "there is "+name+" (do something)") {
					t.Errorf("it is blocked: %q", blocked.Blocked)
				}
				if n := len(y.crew.called[task]); n != tt.calls || y.crew.count(task) != 0 {
					t.Errorf("it was tried %d times", n)
				}
				refused = false
				_, err := d.RetryTask(y.Context(), task)
				y.need(err)
				y.pass(soon)
				y.wantTask(task, cw.TaskRunning)
			})
		})
	}
}

// TestRetryAtOnce: a task that waits to be tried again is tried at once when a
// person wants it.
func TestRetryAtOnce(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		task := y.task(y.phase("Ground"), "one")
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		y.ends(task, crashes(cw.ReasonNoSignal))
		y.pass(soon)
		why := y.waits(d, task)
		if why.Code != cw.WaitRetry || why.Until == nil || !strings.Contains(why.Text, "the tool broke") {
			t.Errorf("it waits for %+v", why)
		}
		_, err := d.RetryTask(y.Context(), task)
		y.need(err)
		y.pass(soon)
		if n := y.crew.count(task); n != 2 {
			t.Errorf("it was started %d times", n)
		}
	})
}

// TestTwoDispatchers: two that look at the same rows never start a task twice.
func TestTwoDispatchers(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		y.limit = 40
		ph := y.phase("Ground")
		var tasks []cw.TaskID
		for range 20 {
			tasks = append(tasks, y.task(ph, "one of many"))
		}
		_, endFirst := y.daemon()
		defer endFirst()
		_, endSecond := y.daemon()
		defer endSecond()
		y.pass(restTime)
		both := 0
		for _, id := range tasks {
			y.wantTask(id, cw.TaskRunning)
			if n := y.crew.count(id); n != 1 {
				t.Errorf("a task was started %d times", n)
			}
			if len(y.crew.called[id]) > 1 {
				both++
			}
		}
		if both == 0 {
			t.Error("the two were never after the same task")
		}
		agents, _, _, err := y.db.Counts(y.Context())
		y.need(err)
		if agents != len(tasks) {
			t.Errorf("there are %d agents for %d tasks", agents, len(tasks))
		}
		for _, id := range tasks {
			y.ends(id, nothingToDo)
		}
		y.pass(restTime)
		for _, id := range tasks {
			y.wantTask(id, cw.TaskDone)
		}
	})
}
