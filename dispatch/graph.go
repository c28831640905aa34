package dispatch

import "cw/internal/cw"

// none is the index of a row that is not there.
const none = -1

// graph is which row belongs to which, what comes before what, and what waits for
// itself. All of it is by index: each id is looked up once.
type graph struct {
	tasks  []cw.Task
	phases []cw.Phase

	initiative  []int32   // by task; none for one that is not there
	phase       []int32   // by task; none for one that is not there
	before      [][]int32 // by task: those that come before it and are there
	phaseBefore [][]int32 // the same by phase
	left        []int     // by phase: tasks that are not over
	drafts      []int     // of these, those that nobody accepted
	all         []int     // by phase: tasks
	dropped     []bool    // by phase: all tasks were cancelled
	circle      []bool    // by task; nil when none waits for itself
}

func graphOf(w cw.DispatchWorld) graph {
	n := len(w.Tasks)
	g := graph{
		tasks: w.Tasks, phases: w.Phases,
		initiative: make([]int32, n), phase: make([]int32, n), before: make([][]int32, n),
		phaseBefore: make([][]int32, len(w.Phases)), left: make([]int, len(w.Phases)), drafts: make([]int, len(w.Phases)),
		all: make([]int, len(w.Phases)), dropped: make([]bool, len(w.Phases)),
	}
	initiatives := places(w.Initiatives, func(in *cw.Initiative) cw.InitiativeID { return in.ID })
	phases := places(w.Phases, func(p *cw.Phase) cw.PhaseID { return p.ID })
	tasks := places(w.Tasks, func(t *cw.Task) cw.TaskID { return t.ID })
	for i := range w.Phases {
		g.phaseBefore[i] = phases.among(nil, w.Phases[i].DependsOn)
	}
	for _, id := range w.Dropped {
		if p := phases.of(id); p != none {
			g.dropped[p] = true
		}
	}
	edges := 0
	for i := range w.Tasks {
		edges += len(w.Tasks[i].DependsOn)
	}
	list := make([]int32, 0, edges)
	for i := range w.Tasks {
		t := &w.Tasks[i]
		g.initiative[i], g.phase[i] = initiatives.of(t.InitiativeID), phases.of(t.PhaseID)
		from := len(list)
		list = tasks.among(list, t.DependsOn)
		g.before[i] = list[from:len(list):len(list)]
		if p := g.phase[i]; p != none {
			g.all[p]++
			if t.Status != cw.TaskDone {
				g.left[p]++
			}
			if t.Status == cw.TaskDraft {
				g.drafts[p]++
			}
		}
	}
	g.circle = g.circles()
	return g
}

// index finds the places of rows by their ids.
type index[ID comparable] map[ID]int32

func places[T any, ID comparable](rows []T, id func(*T) ID) index[ID] {
	x := make(index[ID], len(rows))
	for i := range rows {
		x[id(&rows[i])] = int32(i)
	}
	return x
}

func (x index[ID]) of(id ID) int32 {
	if i, there := x[id]; there {
		return i
	}
	return none
}

// among adds the places of those that are there.
func (x index[ID]) among(list []int32, ids []ID) []int32 {
	for _, id := range ids {
		if i, there := x[id]; there {
			list = append(list, i)
		}
	}
	return list
}

func (g *graph) inCircle(task int) bool { return g.circle != nil && g.circle[task] }

// phaseOver tells whether a phase holds nothing up any more: it is done or
// archived, or has tasks and all of them are over. One that nobody approved is
// not over by its tasks being cancelled: that says nothing about the next ones.
func (g *graph) phaseOver(phase int32) bool {
	s := g.phases[phase].Status
	return s == cw.PhaseArchived || g.left[phase] == 0 && (g.all[phase] > 0 || s == cw.PhaseDone || g.dropped[phase] && s != cw.PhaseDraft)
}

// finished notes that a task is done. What others wait for gets less, so a circle
// may open, and none comes about.
func (g *graph) finished(task int) {
	if p := g.phase[task]; p != none {
		g.left[p]--
	}
	if g.inCircle(task) {
		g.circle = g.circles()
	}
}

// edge says that a node comes before another one.
type edge struct{ from, to int32 }

// circles finds the tasks that wait for themselves. Nobody can make such, as the
// rules refuse it; but a task that is never started is to say why. Tasks are
// taken away for which nothing is left to wait, and then those for which nobody
// waits: what is left waits in a circle, or between two.
func (g *graph) circles() []bool {
	n := len(g.tasks)
	// A phase is two nodes: its tasks come after its beginning and before its end.
	begin := func(phase int32) int32 { return int32(n) + 2*phase }
	edges := make([]edge, 0, 4*n)
	for i := range g.tasks {
		if g.tasks[i].Status == cw.TaskDone {
			continue
		}
		for _, on := range g.before[i] {
			if g.tasks[on].Status != cw.TaskDone {
				edges = append(edges, edge{on, int32(i)})
			}
		}
		if p := g.phase[i]; p != none {
			edges = append(edges, edge{begin(p), int32(i)}, edge{int32(i), begin(p) + 1})
		}
	}
	for i := range g.phases {
		for _, on := range g.phaseBefore[i] {
			if !g.phaseOver(on) {
				edges = append(edges, edge{begin(on) + 1, begin(int32(i))})
			}
		}
	}
	gone := make([]bool, n+2*len(g.phases))
	if strip(edges, gone) == 0 {
		return nil
	}
	for i, e := range edges {
		edges[i] = edge{e.to, e.from}
	}
	strip(edges, gone)
	circle := make([]bool, n)
	for i := range circle {
		circle[i] = !gone[i]
	}
	return circle
}

// strip takes away, again and again, each node before which nothing is left. It
// gives the number of those that stay.
func strip(edges []edge, gone []bool) int {
	open := make([]int32, len(gone))   // nodes before it that are left
	ends := make([]int32, len(gone)+1) // of its part of after
	for _, e := range edges {
		if !gone[e.from] && !gone[e.to] {
			open[e.to]++
			ends[e.from]++
		}
	}
	sum := int32(0)
	for i, count := range ends {
		ends[i], sum = sum, sum+count
	}
	after := make([]int32, sum)
	for _, e := range edges {
		if !gone[e.from] && !gone[e.to] {
			after[ends[e.from]] = e.to
			ends[e.from]++
		}
	}
	var free []int32
	stay := 0
	for i := range gone {
		if gone[i] {
			continue
		}
		stay++
		if open[i] == 0 {
			free = append(free, int32(i))
		}
	}
	for len(free) > 0 {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		gone[i], stay = true, stay-1
		from := int32(0)
		if i > 0 {
			from = ends[i-1]
		}
		for _, a := range after[from:ends[i]] {
			if open[a]--; open[a] == 0 {
				free = append(free, a)
			}
		}
	}
	return stay
}
