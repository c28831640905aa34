package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// board is a world laid out for decisions, with everything that does not change
// when tasks are started and finished: then it can be decided about again.
type board struct {
	w        World
	g        graph
	order    []int            // tasks that are neither drafts nor over: by priority, then by age
	closed   []*cw.WaitReason // by phase: why nothing of it is started; nil for nothing
	grounds  []ground         // by initiative
	reader   reader
	patterns []map[cw.ProjectID][]pattern // by task: its paths in a project, read when they are asked for
}

// ground is what all tasks of an initiative stand on.
type ground struct {
	in                       *cw.Initiative
	provider                 Provider
	project, budget, account *cw.WaitReason // why none of them is started; nil for nothing
}

func boardOf(w World) *board {
	b := &board{
		w: w, g: graphOf(w.DispatchWorld), closed: make([]*cw.WaitReason, len(w.Phases)), grounds: make([]ground, len(w.Initiatives)),
		patterns: make([]map[cw.ProjectID][]pattern, len(w.Tasks)),
	}
	for i := range w.Phases {
		b.closed[i] = phaseClosed(&w.Phases[i])
	}
	for i := range w.Initiatives {
		in := &w.Initiatives[i]
		p := providerOf(w, *in)
		b.grounds[i] = ground{in, p, projectTrouble(w, in, p), budgetSpent(w, in), accountsLimited(p)}
	}
	b.order = b.inOrder()
	return b
}

func (b *board) groundOf(task int) *ground { return &b.grounds[b.g.initiative[task]] }

// begin gives a task an agent.
func (b *board) begin(task int, a cw.TaskAgent) {
	t := &b.w.Tasks[task]
	t.Status, t.AgentID = cw.TaskRunning, a.ID
	b.w.Agents = append(b.w.Agents, a)
}

// finish takes tasks away that are done, with their agents and the memory of these.
func (b *board) finish(tasks []int) {
	over := make(map[cw.TaskID]bool, len(tasks))
	for _, i := range tasks {
		t := &b.w.Tasks[i]
		t.Status, over[t.ID] = cw.TaskDone, true
		b.g.finished(i)
	}
	b.order = slices.DeleteFunc(b.order, func(i int) bool { return b.w.Tasks[i].Status == cw.TaskDone })
	b.w.Agents = slices.DeleteFunc(b.w.Agents, func(a cw.TaskAgent) bool {
		if over[a.TaskID] && b.w.Room.FreeMemory > 0 && a.Alive() {
			b.w.Room.FreeMemory += b.w.Room.Held[a.ID]
		}
		return over[a.TaskID]
	})
}

// working tells whether an agent is at a task, or its work is on its way.
func working(s cw.TaskStatus) bool {
	return s == cw.TaskRunning || s == cw.TaskVerifying || s == cw.TaskMerging
}

// inOrder gives the tasks that are neither drafts nor over in the order in which
// they are started. Each priority is ordered by itself: within one, tasks mostly
// are in order already.
func (b *board) inOrder() []int {
	type place struct {
		made                  time.Time
		phase, position, task int
	}
	places := make([]place, 0, len(b.w.Tasks))
	for rank := range cw.TaskPriorities() {
		from := len(places)
		for i := range b.w.Tasks {
			if t := &b.w.Tasks[i]; rankOf(t.Priority) == rank && b.stands(i) {
				places = append(places, place{t.CreatedAt, int(b.g.phase[i]), t.Position, i})
			}
		}
		slices.SortFunc(places[from:], func(x, y place) int {
			if c := cmp.Or(x.made.Compare(y.made), x.phase-y.phase, x.position-y.position); c != 0 {
				return c
			}
			return strings.Compare(string(b.w.Tasks[x.task].ID), string(b.w.Tasks[y.task].ID))
		})
	}
	order := make([]int, len(places))
	for i, p := range places {
		order[i] = p.task
	}
	return order
}

// stands tells whether a decision is about a task.
func (b *board) stands(task int) bool {
	s := b.w.Tasks[task].Status
	return s != cw.TaskDraft && s != cw.TaskDone && s != cw.TaskCancelled && b.g.initiative[task] != none
}

func rankOf(p cw.TaskPriority) int {
	if i := slices.Index(cw.TaskPriorities(), p); i >= 0 {
		return i
	}
	return slices.Index(cw.TaskPriorities(), cw.PriorityMedium)
}
