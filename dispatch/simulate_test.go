package dispatch

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cw/internal/cw"
)

// minutes is how long a task takes in these tests: each time another.
func minutes(t cw.Task) time.Duration { return time.Duration(t.Position%7+1) * time.Minute }

// TestSimulateIsTheRun: the order and the times of a plan are those of a run in
// which every task takes as long as was thought.
func TestSimulateIsTheRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := worlds(shape{calm: true}).Draw(t, "world")
		w.Room = Room{}
		for i := range w.Tasks {
			w.Tasks[i].Type = cw.TaskAuto
		}
		const id = "i0"
		plan := Simulate(w, id, minutes)
		var began []cw.TaskID
		now, last := w.Now, w.Now
		w.Tasks = slices.Clone(w.Tasks)
		ends := map[cw.TaskID]time.Time{}
		for {
			w.Now = now
			for _, s := range Decide(w).Starts {
				task := taskOf(w, s.Task)
				task.Status = cw.TaskRunning
				giveAgent(&w, task, cw.StatusRunning, s.AccountID)
				ends[s.Task] = now.Add(minutes(*task))
				if task.InitiativeID == id {
					i := len(began)
					if began = append(began, s.Task); i >= len(plan.Steps) || plan.Steps[i].ID != s.Task || !plan.Steps[i].Start.Equal(now) || !plan.Steps[i].Finish.Equal(ends[s.Task]) {
						t.Fatalf("%s was started at %s as number %d, planned was %+v", s.Task, now, i, plan.Steps)
					}
					last = later(last, ends[s.Task])
				}
			}
			if len(ends) == 0 {
				break
			}
			now = slices.MinFunc(slices.Collect(maps.Values(ends)), time.Time.Compare)
			for task, end := range ends {
				if end.Equal(now) {
					taskOf(w, task).Status = cw.TaskDone
					delete(ends, task)
					w.Agents = slices.DeleteFunc(w.Agents, func(a cw.TaskAgent) bool { return a.TaskID == task })
				}
			}
		}
		if len(began) != len(plan.Steps) || len(plan.Waiting) > 0 {
			t.Fatalf("%d were started, planned were %d, and %d are left", len(began), len(plan.Steps), len(plan.Waiting))
		}
		if plan.Finish == nil || !plan.Finish.Equal(last) {
			t.Fatalf("the last ended at %s, planned was %v", last, plan.Finish)
		}
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestSimulateEnds: a plan of any world ends, leaves the world alone, and says of
// each task when it begins, or why never.
func TestSimulateEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := worlds(shape{circles: true}).Draw(t, "world")
		before := slices.Clone(w.Tasks)
		plan := Simulate(w, "i0", minutes)
		told := map[cw.TaskID]int{}
		for _, s := range plan.Steps {
			told[s.ID]++
		}
		for _, s := range plan.Waiting {
			if told[s.ID]++; s.Wait == nil {
				t.Fatalf("%s waits for nothing", s.ID)
			}
		}
		for i, task := range w.Tasks {
			if task.Status != before[i].Status || task.AgentID != before[i].AgentID {
				t.Fatalf("the plan changed %s", task.ID)
			}
			waits := task.InitiativeID == "i0" && (task.Status == cw.TaskPending || task.Status == cw.TaskReady || task.Status == cw.TaskBlocked)
			if told[task.ID] > 1 || (told[task.ID] == 1) != waits {
				t.Fatalf("%s, which is %s, is told %d times", task.ID, task.Status, told[task.ID])
			}
		}
		if len(plan.Waiting) > 0 && plan.Finish != nil {
			t.Fatalf("it ends at %s, though %d never begin", plan.Finish, len(plan.Waiting))
		}
	})
}

// TestSimulateRetry: what is tried again later begins then.
func TestSimulateRetry(t *testing.T) {
	t.Parallel()
	w := crowd(1)
	w.Tasks[0].RetryAt = in(time.Minute)
	plan := Simulate(w, "i", minutes)
	if len(plan.Steps) != 1 || !plan.Steps[0].Start.Equal(noon.Add(time.Minute)) || plan.Finish == nil || !plan.Finish.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("%+v, ends %v", plan.Steps, plan.Finish)
	}
}

// TestSimulateMemory: agents that were started in a plan have their memory until
// they end.
func TestSimulateMemory(t *testing.T) {
	t.Parallel()
	w := crowd(3)
	w.Providers = map[string]Provider{"": {Name: "alpha"}}
	w.Room = Room{FreeMemory: 1 << 30, Peaks: map[string]int64{"alpha": 1 << 30}}
	var starts []time.Duration
	for _, s := range Simulate(w, "i", func(cw.Task) time.Duration { return time.Minute }).Steps {
		starts = append(starts, s.Start.Sub(noon))
	}
	if !slices.Equal(starts, []time.Duration{0, time.Minute, 2 * time.Minute}) {
		t.Errorf("started after %v", starts)
	}
}
