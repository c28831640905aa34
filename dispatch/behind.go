package dispatch

import "cw/internal/cw"

// waiters knows who waits for whom, among tasks that are not done.
type waiters struct {
	open    map[cw.TaskID]cw.PhaseID
	after   map[cw.TaskID][]cw.TaskID   // tasks that come after a task
	later   map[cw.PhaseID][]cw.PhaseID // phases that come after a phase
	inPhase map[cw.PhaseID][]cw.TaskID
}

func waitersOf(w cw.DispatchWorld) waiters {
	ws := waiters{
		open: make(map[cw.TaskID]cw.PhaseID, len(w.Tasks)), after: map[cw.TaskID][]cw.TaskID{},
		later: map[cw.PhaseID][]cw.PhaseID{}, inPhase: map[cw.PhaseID][]cw.TaskID{},
	}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		if t.Status == cw.TaskDone {
			continue
		}
		ws.open[t.ID] = t.PhaseID
		ws.inPhase[t.PhaseID] = append(ws.inPhase[t.PhaseID], t.ID)
		for _, on := range t.DependsOn {
			ws.after[on] = append(ws.after[on], t.ID)
		}
	}
	for i := range w.Phases {
		for _, on := range w.Phases[i].DependsOn {
			ws.later[on] = append(ws.later[on], w.Phases[i].ID)
		}
	}
	return ws
}

// behind counts the tasks that wait for one, directly or through others. A phase
// waits for every task of the phases before it.
func (ws waiters) behind(id cw.TaskID) int {
	seen, phases := map[cw.TaskID]bool{id: true}, map[cw.PhaseID]bool{}
	todo := []cw.TaskID{id}
	add := func(tasks []cw.TaskID) {
		for _, t := range tasks {
			if !seen[t] {
				seen[t] = true
				todo = append(todo, t)
			}
		}
	}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		add(ws.after[t])
		phase := ws.open[t]
		if phases[phase] {
			continue
		}
		phases[phase] = true
		for _, later := range ws.later[phase] {
			add(ws.inPhase[later])
		}
	}
	return len(seen) - 1
}
