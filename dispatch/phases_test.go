package dispatch_test

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestPhasesEnd: a phase is over when its tasks are done or cancelled, whoever
// ended them, and what comes after it goes on; also when it is the last one, and
// when nobody ever worked on it.
func TestPhasesEnd(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		dropped, people := y.phase("Dropped"), y.phase("People")
		after := y.phase("After", dropped, people)
		one, two := y.task(dropped, "one"), y.task(dropped, "two")
		decision := y.task(people, "decision", func(r *cw.CreateTaskRequest) { r.Type = cw.TaskCheckpointDecide })
		last := y.task(after, "last")
		y.cancel(one)
		d, end := y.daemon()
		defer end()
		y.pass(soon)
		if why := y.waits(d, last); why.Code != cw.WaitPhase || !strings.Contains(why.Text, "Dropped") {
			t.Errorf("it waits for %+v", why)
		}
		y.wantTask(two, cw.TaskRunning)
		y.wantPhase(dropped, cw.PhaseRunning)
		y.cancel(two)
		y.pass(restTime)
		y.wantPhase(dropped, cw.PhaseDone)
		if why := y.waits(d, last); !strings.Contains(why.Text, "People") {
			t.Errorf("it waits for %+v", why)
		}
		_, err := d.DecideTask(y.Context(), decision, cw.TaskVerdict{Accept: true, Comment: "by weight"})
		y.need(err)
		y.pass(soon)
		y.wantPhase(people, cw.PhaseDone)
		y.wantTask(last, cw.TaskRunning)
		y.ends(last, nothingToDo)
		y.pass(soon)
		y.wantTask(last, cw.TaskDone)
		y.wantPhase(after, cw.PhaseDone)
		// Somebody adds to it: it goes on, and ends again.
		more := y.task(after, "more", func(r *cw.CreateTaskRequest) { r.Type = cw.TaskCheckpointAction })
		y.pass(soon)
		y.wantPhase(after, cw.PhaseApproved)
		_, err = d.DecideTask(y.Context(), more, cw.TaskVerdict{Accept: true})
		y.need(err)
		y.pass(soon)
		y.wantPhase(after, cw.PhaseDone)
	})
}

// TestPhaseDroppedAtOnce: a phase whose tasks are all cancelled before any began
// is over, and alone in its initiative, too.
func TestPhaseDroppedAtOnce(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		ph := y.phase("Dropped")
		y.cancel(y.task(ph, "one"))
		_, end := y.daemon()
		defer end()
		y.pass(soon)
		y.wantPhase(ph, cw.PhaseDone)
	})
}

// TestPhaseWithoutTasks: a phase without tasks stays open, as nobody has said what
// it is; what comes after it says so, and what to do. So it is with one that is
// not approved.
func TestPhaseWithoutTasks(t *testing.T) {
	t.Parallel()
	inYard(t, func(y *yard) {
		y.open()
		empty := y.phase("Empty")
		draft, err := y.CreatePhase(y.Context(), cw.CreatePhaseRequest{Initiative: y.in.Slug, Name: "Draft"})
		y.need(err)
		status := cw.PhaseDraft
		_, err = y.EditPhase(y.Context(), draft.ID, cw.PhaseEdit{Status: &status})
		y.need(err)
		y.cancel(y.task(draft.ID, "cancelled"))
		last, later := y.task(y.phase("After", empty), "last"), y.task(y.phase("Later", draft.ID), "later")
		d, end := y.daemon()
		defer end()
		y.pass(restTime)
		y.wantPhase(empty, cw.PhaseApproved)
		if why := y.waits(d, last); why.Code != cw.WaitPhase || !strings.Contains(why.Text, `"Empty" comes first, and has no tasks`) || !strings.Contains(why.Hint, "cw phase edit "+string(empty)+" --status done") {
			t.Errorf("it waits for %+v", why)
		}
		if why := y.waits(d, later); why.Code != cw.WaitPhase || !strings.Contains(why.Text, "is not approved") || why.Hint != "approve it: cw phase approve "+string(draft.ID) {
			t.Errorf("it waits for %+v", why)
		}
		done := cw.PhaseDone
		_, err = y.EditPhase(y.Context(), empty, cw.PhaseEdit{Status: &done})
		y.need(err)
		y.pass(soon)
		y.wantTask(last, cw.TaskRunning)
	})
}
