package dispatch

import (
	"testing"

	"cw/internal/cw"
)

// TestBehind: those that wait for a task are counted once each, also through
// phases and around a circle, and those that are done are not.
func TestBehind(t *testing.T) {
	t.Parallel()
	task := func(id cw.TaskID, phase cw.PhaseID, status cw.TaskStatus, on ...cw.TaskID) cw.Task {
		return cw.Task{ID: id, PhaseID: phase, Status: status, DependsOn: on}
	}
	ws := waitersOf(cw.DispatchWorld{
		Phases: []cw.Phase{{ID: "one"}, {ID: "two", DependsOn: []cw.PhaseID{"one"}}, {ID: "three", DependsOn: []cw.PhaseID{"two"}}, {ID: "alone"}},
		Tasks: []cw.Task{
			task("a", "one", cw.TaskRunning), task("b", "one", cw.TaskPending, "a"), task("c", "one", cw.TaskDone, "a"),
			task("d", "two", cw.TaskPending), task("e", "three", cw.TaskPending, "d", "a"), task("f", "three", cw.TaskDone),
			task("x", "alone", cw.TaskPending, "z"), task("y", "alone", cw.TaskPending, "x"), task("z", "alone", cw.TaskPending, "y"), task("q", "alone", cw.TaskPending),
		},
	})
	for id, want := range map[cw.TaskID]int{"a": 3, "b": 2, "c": 0, "d": 1, "e": 0, "x": 2, "q": 0, "unknown": 0} {
		if got := ws.behind(id); got != want {
			t.Errorf("behind %s are %d, not %d", id, got, want)
		}
	}
}
