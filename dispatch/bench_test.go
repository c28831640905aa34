package dispatch

import (
	"fmt"
	"testing"
	"time"

	"cw/internal/cw"
)

// manyTasks is a world as it is in the middle of much work: initiatives with
// phases one after the other, tasks with dependencies and paths, some done, some
// worked on, most waiting for one reason or another.
func manyTasks(n int) World {
	w := crowd(n)
	w.Initiatives, w.Phases = nil, nil
	w.Limits = cw.DispatchLimits{Machine: 20, Project: 10}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		in, ph := i/500, i/50
		if i%500 == 0 {
			w.Initiatives = append(w.Initiatives, cw.Initiative{
				ID: cw.InitiativeID(fmt.Sprint("i", in)), Slug: fmt.Sprint("shop", in), Projects: []cw.InitiativeProject{{ID: cw.ProjectID(fmt.Sprint("p", in%5)), Name: "shop"}},
			})
		}
		if i%50 == 0 {
			p := cw.Phase{ID: cw.PhaseID(fmt.Sprint("ph", ph)), InitiativeID: cw.InitiativeID(fmt.Sprint("i", in)), Name: "a phase", Status: cw.PhaseApproved}
			if ph%4 > 0 {
				p.DependsOn = []cw.PhaseID{cw.PhaseID(fmt.Sprint("ph", ph-1))}
			}
			w.Phases = append(w.Phases, p)
		}
		t.InitiativeID, t.PhaseID = cw.InitiativeID(fmt.Sprint("i", in)), cw.PhaseID(fmt.Sprint("ph", ph))
		t.Priority = cw.TaskPriorities()[i%3]
		t.Paths = []string{fmt.Sprintf("src/p%d/**", i%200), fmt.Sprintf("docs/p%d/*.md", i)}
		if i%50 > 10 {
			t.DependsOn = []cw.TaskID{w.Tasks[i-1].ID, w.Tasks[i-7].ID}
		}
		switch {
		case i%500 < 3:
			t.Status = cw.TaskDone
		case i%1000 == 3:
			giveAgent(&w, t, cw.StatusRunning, "")
			t.Status = cw.TaskRunning
		}
	}
	return w
}

// BenchmarkDecide is one decision about 10,000 tasks; the goal is 10 ms.
func BenchmarkDecide(b *testing.B) {
	w := manyTasks(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if len(Decide(w).Standings) == 0 {
			b.Fatal("nothing stands there")
		}
	}
}

// BenchmarkDecideOpen is the same when all tasks only wait for room.
func BenchmarkDecideOpen(b *testing.B) {
	w := crowd(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if len(Decide(w).Starts) != w.Limits.Machine {
			b.Fatal("not as many were started as may be")
		}
	}
}

// BenchmarkSimulate is the plan of an initiative with 2,000 tasks.
func BenchmarkSimulate(b *testing.B) {
	w := crowd(2000)
	b.ReportAllocs()
	for b.Loop() {
		if len(Simulate(w, "i", func(t cw.Task) time.Duration { return time.Duration(t.Position%97+1) * time.Minute }).Steps) != len(w.Tasks) {
			b.Fatal("not all were started")
		}
	}
}

func BenchmarkOverlap(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if Overlap("src/**/{a,b}/*.go", "src/prices/**/c_test.md") {
			b.Fatal("they overlap")
		}
	}
}
