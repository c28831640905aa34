//go:build linux

package bench

import (
	"fmt"
	"slices"
	"time"

	"cw/dispatch"
	"cw/internal/cw"
)

// manyTasks is a world in the middle of much work: initiatives of 500 tasks with
// phases one after the other, dependencies and paths. With open they are in one
// phase without dependencies, and wait for nothing but room.
func manyTasks(n int, open bool) dispatch.World {
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := dispatch.World{Now: made.Add(time.Hour), Limits: cw.DispatchLimits{Machine: 20, Project: 10}}
	w.State = cw.DispatchRunning
	for i := range n {
		in, ph := i/500, i/50
		if i%500 == 0 {
			w.Initiatives = append(w.Initiatives, cw.Initiative{
				ID: cw.InitiativeID(fmt.Sprintf("initiative%d", in)), Slug: fmt.Sprint("shop", in),
				Projects: []cw.InitiativeProject{{ID: cw.ProjectID(fmt.Sprintf("project%d", in%5)), Name: "shop"}},
			})
		}
		if i%50 == 0 {
			p := cw.Phase{ID: cw.PhaseID(fmt.Sprintf("phase%d", ph)), InitiativeID: w.Initiatives[in].ID, Name: "a phase", Status: cw.PhaseApproved}
			if ph%10 > 0 && !open {
				p.DependsOn = []cw.PhaseID{w.Phases[ph-1].ID}
			}
			w.Phases = append(w.Phases, p)
		}
		t := cw.Task{
			ID: cw.TaskID(fmt.Sprintf("task%08d", i)), InitiativeID: w.Initiatives[in].ID, PhaseID: w.Phases[ph].ID, Name: fmt.Sprint("task ", i),
			Type: cw.TaskAuto, Status: cw.TaskPending, Size: cw.SizeSmall, Priority: cw.TaskPriorities()[i%3], Position: i % 50, CreatedAt: made.Add(time.Duration(i) * time.Second),
			Paths: []string{fmt.Sprintf("src/p%d/**", i), fmt.Sprintf("docs/p%d/*.md", i)},
		}
		switch {
		case open:
		case i%500 < 3:
			t.Status = cw.TaskDone
		case i%50 > 10:
			t.DependsOn = []cw.TaskID{w.Tasks[i-1].ID, w.Tasks[i-7].ID}
		}
		w.Tasks = append(w.Tasks, t)
	}
	return w
}

// leastDecision is what any decision about tasks has to do: find each one and
// what it depends on by id, and order them by priority and age.
func leastDecision(w dispatch.World) (waiting int) {
	at := make(map[cw.TaskID]int, len(w.Tasks))
	for i := range w.Tasks {
		at[w.Tasks[i].ID] = i
	}
	order := make([]int, 0, len(w.Tasks))
	for i := range w.Tasks {
		order = append(order, i)
		for _, on := range w.Tasks[i].DependsOn {
			if w.Tasks[at[on]].Status != cw.TaskDone {
				waiting++
			}
		}
	}
	priorities := cw.TaskPriorities()
	slices.SortFunc(order, func(i, j int) int {
		a, b := &w.Tasks[i], &w.Tasks[j]
		if a.Priority != b.Priority {
			return slices.Index(priorities, a.Priority) - slices.Index(priorities, b.Priority)
		}
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	return waiting
}

// decisions times what the dispatcher decides about many tasks, and its plan.
func decisions(r *rig) []figure {
	timed := func(what string, w dispatch.World) figure {
		floor, ours := inTurn(r.rounds, func(int) time.Duration {
			return took(func() { leastDecision(w) })
		}, func(int) time.Duration {
			return took(func() {
				d := dispatch.Decide(w)
				if len(d.Starts) == 0 || len(d.Starts)+len(d.Standings) <= len(w.Tasks)/2 {
					r.Fatalf("%d of %d tasks are started, %d stand there", len(d.Starts), len(w.Tasks), len(d.Standings))
				}
			})
		})
		d := median(ours)
		return figure{
			what: fmt.Sprintf("decision about %d tasks, %s", r.tasks, what), ours: inMS(d),
			floor: "finding and ordering them: " + inMS(median(floor)), value: millis(d), goal: goal{bound: 10, unit: "ms"},
		}
	}
	plan := manyTasks(max(r.tasks/5, 1), true)
	var planned []time.Duration
	for range max(1, r.rounds/10) {
		planned = append(planned, took(func() {
			for _, in := range plan.Initiatives {
				if got := dispatch.Simulate(plan, in.ID, func(t cw.Task) time.Duration { return time.Duration(t.Position+1) * time.Minute }); len(got.Waiting) > 0 {
					r.Fatalf("%d tasks are never started in the plan", len(got.Waiting))
				}
			}
		})/time.Duration(len(plan.Initiatives)))
	}
	return []figure{
		timed("most of them wait for others", manyTasks(r.tasks, false)),
		timed("all wait for room", manyTasks(r.tasks, true)),
		{what: fmt.Sprintf("plan of %d tasks, from the first to the last", len(plan.Tasks)), ours: inMS(median(planned)), value: millis(median(planned)), goal: goal{unit: "ms"}},
	}
}
