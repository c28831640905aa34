package dispatch

import "cw/internal/cw"

// graph finds rows by id, and knows what waits for itself.
type graph struct {
	initiatives map[cw.InitiativeID]*cw.Initiative
	phases      map[cw.PhaseID]*cw.Phase
	phaseAt     map[cw.PhaseID]int
	tasks       map[cw.TaskID]*cw.Task
	left        map[cw.PhaseID]int // tasks that are not over
	drafts      map[cw.PhaseID]int // of these, those that nobody accepted
	all         map[cw.PhaseID]int
	dropped     map[cw.PhaseID]bool // all tasks were cancelled
	circle      map[cw.TaskID]bool
}

func graphOf(w cw.DispatchWorld) graph {
	g := graph{
		initiatives: make(map[cw.InitiativeID]*cw.Initiative, len(w.Initiatives)),
		phases:      make(map[cw.PhaseID]*cw.Phase, len(w.Phases)),
		phaseAt:     make(map[cw.PhaseID]int, len(w.Phases)),
		tasks:       make(map[cw.TaskID]*cw.Task, len(w.Tasks)),
		left:        map[cw.PhaseID]int{}, drafts: map[cw.PhaseID]int{}, all: map[cw.PhaseID]int{}, dropped: map[cw.PhaseID]bool{},
	}
	for _, id := range w.Dropped {
		g.dropped[id] = true
	}
	for i := range w.Initiatives {
		g.initiatives[w.Initiatives[i].ID] = &w.Initiatives[i]
	}
	for i := range w.Phases {
		g.phases[w.Phases[i].ID], g.phaseAt[w.Phases[i].ID] = &w.Phases[i], i
	}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		g.tasks[t.ID] = t
		g.all[t.PhaseID]++
		if t.Status != cw.TaskDone {
			g.left[t.PhaseID]++
		}
		if t.Status == cw.TaskDraft {
			g.drafts[t.PhaseID]++
		}
	}
	g.circle = circles(w, g)
	return g
}

func (g graph) initiative(t cw.Task) *cw.Initiative { return g.initiatives[t.InitiativeID] }
func (g graph) phase(id cw.PhaseID) *cw.Phase       { return g.phases[id] }
func (g graph) task(id cw.TaskID) *cw.Task          { return g.tasks[id] }
func (g graph) place(t cw.Task) int                 { return g.phaseAt[t.PhaseID] }
func (g graph) inCircle(t cw.Task) bool             { return g.circle[t.ID] }

// phaseOver tells whether a phase holds nothing up any more: it is done or
// archived, or has tasks and all of them are over. One that nobody approved is
// not over by its tasks being cancelled: that says nothing about the next ones.
func (g graph) phaseOver(id cw.PhaseID) bool {
	p := g.phases[id]
	if p == nil || p.Status == cw.PhaseArchived {
		return true
	}
	return g.left[id] == 0 && (g.all[id] > 0 || p.Status == cw.PhaseDone || g.dropped[id] && p.Status != cw.PhaseDraft)
}

// circles finds the tasks that wait for themselves. Nobody can make such, as the
// rules refuse it; but a task that is never started is to say why. Tasks are
// taken away for which nothing is left to wait, and then those for which nobody
// waits: what is left waits in a circle, or between two.
func circles(w cw.DispatchWorld, g graph) map[cw.TaskID]bool {
	n := len(w.Tasks)
	at := make(map[cw.TaskID]int, n)
	for i := range w.Tasks {
		at[w.Tasks[i].ID] = i
	}
	// A phase is two nodes: its tasks come after its beginning and before its end.
	begin := func(id cw.PhaseID) int { return n + 2*g.phaseAt[id] }
	before := make([][]int32, n+2*len(w.Phases))
	edge := func(from, to int) { before[to] = append(before[to], int32(from)) }
	for i, t := range w.Tasks {
		if t.Status == cw.TaskDone {
			continue
		}
		for _, on := range t.DependsOn {
			if j, there := at[on]; there && w.Tasks[j].Status != cw.TaskDone {
				edge(j, i)
			}
		}
		if _, there := g.phases[t.PhaseID]; there {
			edge(begin(t.PhaseID), i)
			edge(i, begin(t.PhaseID)+1)
		}
	}
	for _, p := range w.Phases {
		for _, on := range p.DependsOn {
			if _, there := g.phases[on]; there && !g.phaseOver(on) {
				edge(begin(on)+1, begin(p.ID))
			}
		}
	}
	gone := make([]bool, len(before))
	strip(before, gone)
	if !someLeft(gone) {
		return nil
	}
	strip(reversed(before), gone)
	out := map[cw.TaskID]bool{}
	for i := range w.Tasks {
		if !gone[i] {
			out[w.Tasks[i].ID] = true
		}
	}
	return out
}

// strip takes away, again and again, each node before which nothing is left.
func strip(before [][]int32, gone []bool) {
	open := make([]int32, len(before))
	after := reversed(before)
	var free []int32
	for i := range before {
		if gone[i] {
			continue
		}
		for _, b := range before[i] {
			if !gone[b] {
				open[i]++
			}
		}
		if open[i] == 0 {
			free = append(free, int32(i))
		}
	}
	for len(free) > 0 {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		gone[i] = true
		for _, a := range after[i] {
			if open[a]--; open[a] == 0 && !gone[a] {
				free = append(free, a)
			}
		}
	}
}

func reversed(edges [][]int32) [][]int32 {
	out := make([][]int32, len(edges))
	for to, from := range edges {
		for _, f := range from {
			out[f] = append(out[f], int32(to))
		}
	}
	return out
}

func someLeft(gone []bool) bool {
	for _, g := range gone {
		if !g {
			return true
		}
	}
	return false
}
