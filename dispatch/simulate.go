package dispatch

import (
	"context"
	"slices"
	"time"

	"cw/internal/cw"
)

// assumed is how long a task is thought to take before any of its initiative was
// merged.
func assumed(s cw.TaskSize) time.Duration {
	switch s {
	case cw.SizeSmall:
		return 10 * time.Minute
	case cw.SizeLarge:
		return 90 * time.Minute
	}
	return 30 * time.Minute
}

// DispatchPlan implements cw.DispatchService.
func (d *Dispatcher) DispatchPlan(ctx context.Context, initiative string) (cw.DispatchPlan, error) {
	in, err := d.Store.InitiativeByRef(ctx, initiative)
	if err != nil {
		return cw.DispatchPlan{}, err
	}
	w, err := d.observe(ctx)
	if err != nil {
		return cw.DispatchPlan{}, err
	}
	times, err := d.Store.TaskTimes(ctx, in.ID)
	if err != nil {
		return cw.DispatchPlan{}, err
	}
	plan := Simulate(w, in.ID, func(t cw.Task) time.Duration {
		if measured := times[t.Size]; len(measured) > 0 {
			return median(measured)
		}
		return assumed(t.Size)
	})
	plan.Initiative = cw.InitiativeRef{ID: in.ID, Slug: in.Slug}
	plan.Estimate = "assumed: 10 minutes for a small task, 30 for a medium, 90 for a large one"
	if len(times) > 0 {
		plan.Estimate = "measured: as long as tasks of that size took in this initiative; assumed where there was none"
	}
	return plan, nil
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// Simulate starts and finishes the tasks of a world by the same decisions as the
// dispatcher, with times that are given, until nothing can be started any more.
// It tells the starts of one initiative. People and limits that pass are taken to
// stay as they are.
func Simulate(w World, id cw.InitiativeID, took func(cw.Task) time.Duration) cw.DispatchPlan {
	plan := cw.DispatchPlan{Steps: []cw.DispatchStep{}, Waiting: []cw.DispatchTask{}}
	w.State = cw.DispatchRunning
	w.Tasks, w.Agents = slices.Clone(w.Tasks), slices.Clone(w.Agents)
	b := boardOf(w)
	at := make(map[cw.TaskID]int, len(w.Tasks)) // index
	ends := map[int]time.Time{}                 // by index
	var again []time.Time                       // when a task is tried again
	for i, t := range w.Tasks {
		at[t.ID] = i
		if working(t.Status) {
			ends[i] = w.Now.Add(took(t))
		}
		if t.RetryAt != nil && t.Status != cw.TaskDone {
			again = append(again, *t.RetryAt)
		}
	}
	for {
		for _, s := range b.decide(true).Starts {
			i := at[s.Task]
			t := &w.Tasks[i]
			agent := agentToBe(w, *t, s)
			agent.ID = cw.AgentID("agent of " + t.ID)
			b.begin(i, agent)
			ends[i] = b.w.Now.Add(took(*t))
			if t.InitiativeID == id {
				plan.Steps = append(plan.Steps, cw.DispatchStep{DispatchTask: shown(b.w, Standing{Task: t}), Start: b.w.Now, Finish: ends[i]})
			}
		}
		due, some := nextTime(b.w.Now, ends, again)
		if !some {
			return finished(plan, b.w, b.decide(false), id)
		}
		b.w.Now = due
		var over []int
		for i, end := range ends {
			if end.After(due) {
				continue
			}
			over = append(over, i)
			delete(ends, i)
			if w.Tasks[i].InitiativeID == id {
				plan.Finish = &due
			}
		}
		b.finish(over)
	}
}

// nextTime is when something changes next: a task ends, or one is tried again;
// false when nothing does.
func nextTime(now time.Time, ends map[int]time.Time, again []time.Time) (next time.Time, some bool) {
	sooner := func(t time.Time) {
		if !some || t.Before(next) {
			next, some = t, true
		}
	}
	for _, end := range ends {
		sooner(end)
	}
	for _, t := range again {
		if t.After(now) {
			sooner(t)
		}
	}
	return next, some
}

func initiativeOf(w World, id cw.InitiativeID) cw.Initiative {
	for _, in := range w.Initiatives {
		if in.ID == id {
			return in
		}
	}
	return cw.Initiative{}
}

// finished tells what is left over.
func finished(plan cw.DispatchPlan, w World, last Decision, id cw.InitiativeID) cw.DispatchPlan {
	for _, s := range last.Standings {
		if s.Wait != nil && s.Task.InitiativeID == id {
			plan.Waiting = append(plan.Waiting, shown(w, s))
		}
	}
	if len(plan.Waiting) > 0 {
		plan.Finish = nil
	}
	return plan
}
