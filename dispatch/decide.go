package dispatch

import (
	"cmp"
	"slices"
	"strings"

	"cw/internal/cw"
)

// Standing is where a task is, as the dispatcher sees it.
type Standing struct {
	Task  *cw.Task
	Ready bool           // it is started, as far as this decision goes
	Wait  *cw.WaitReason // why not; nil for one that is ready, or that is worked on already
}

// Start is a task that is to be started now.
type Start struct {
	Task      cw.TaskID
	Name      string
	Provider  string
	AccountID cw.AccountID // "" when any will do
}

// Decision is what the dispatcher does next, and why it does nothing else.
type Decision struct {
	Starts    []Start    // in this order
	Reached   []cw.Task  // checkpoints that a person has to decide on from now on
	Standings []Standing // of all tasks that are neither drafts nor over: in the order in which they are started
	Pressure  string     // why nothing at all is started for want of memory or disk
}

// Decide says which tasks are started now, and of each other one why it is not:
// exactly one reason, the first that holds. Tasks are looked at by priority and
// then by age, so that one that has to wait for paths or for room keeps younger
// ones off its paths and never waits for ever.
func Decide(w World) Decision { return decide(w, false) }

// decide ends, with startsOnly, where nothing can be started any more.
func decide(w World, startsOnly bool) Decision {
	d := decider{w: w, patterns: make([][]pattern, len(w.Tasks)), g: graphOf(w.DispatchWorld), claims: map[cw.ProjectID]*claims{}, use: useOf(w)}
	d.free = w.Room.FreeMemory - w.Room.Reserve
	for _, a := range w.Agents {
		if a.Alive() {
			d.free -= w.Room.grows(a)
		}
	}
	order := d.order()
	for _, i := range order { // what is worked on has its paths, wherever it stands in the order
		if working(w.Tasks[i].Status) {
			d.claim(i)
		}
	}
	d.out.Standings = make([]Standing, 0, len(order))
	for _, i := range order {
		if startsOnly && d.use.machine >= w.Limits.Machine {
			break
		}
		d.look(i)
	}
	return d.out
}

// decider is one decision in the making.
type decider struct {
	w      World
	g      graph
	claims map[cw.ProjectID]*claims
	use    use
	free   int64 // bytes of memory that are left, less than 0 when older tasks wait for more
	// patterns are the paths of tasks, read at most once.
	patterns [][]pattern // by index
	out      Decision
}

// pathsOf reads the paths of a task.
func (d *decider) pathsOf(i int) []pattern {
	if d.patterns[i] == nil {
		d.patterns[i] = readPaths(d.w.Tasks[i].Paths)
	}
	return d.patterns[i]
}

// working tells whether an agent is at a task, or its work is on its way.
func working(s cw.TaskStatus) bool {
	return s == cw.TaskRunning || s == cw.TaskVerifying || s == cw.TaskMerging
}

// order gives the tasks that are neither drafts nor over: by priority, then by
// age.
func (d *decider) order() []int {
	type place struct{ task, rank, phase int }
	places := make([]place, 0, len(d.w.Tasks))
	for i := range d.w.Tasks {
		t := &d.w.Tasks[i]
		if t.Status != cw.TaskDraft && t.Status != cw.TaskDone && t.Status != cw.TaskCancelled && d.g.initiative(*t) != nil {
			places = append(places, place{i, rank(t.Priority), d.g.place(*t)})
		}
	}
	slices.SortFunc(places, func(x, y place) int {
		if x.rank != y.rank {
			return x.rank - y.rank
		}
		a, b := &d.w.Tasks[x.task], &d.w.Tasks[y.task]
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), x.phase-y.phase, a.Position-b.Position, strings.Compare(string(a.ID), string(b.ID)))
	})
	order := make([]int, len(places))
	for i, p := range places {
		order[i] = p.task
	}
	return order
}

func rank(p cw.TaskPriority) int {
	if i := slices.Index(cw.TaskPriorities(), p); i >= 0 {
		return i
	}
	return slices.Index(cw.TaskPriorities(), cw.PriorityMedium)
}

// claim gives a task its paths in all projects of its initiative.
func (d *decider) claim(i int) {
	t := d.w.Tasks[i]
	for _, p := range d.g.initiative(t).Projects {
		if d.claims[p.ID] == nil {
			d.claims[p.ID] = &claims{}
		}
		d.claims[p.ID].add(d.pathsOf(i), i)
	}
}

// look decides about one task.
func (d *decider) look(i int) {
	t := &d.w.Tasks[i]
	s := Standing{Task: t}
	if !working(t.Status) {
		s.Wait = d.wait(i)
		switch {
		case s.Wait == nil:
			s.Ready = true
			d.start(i)
		case s.Wait.Code == cw.WaitPerson && t.Status == cw.TaskPending:
			d.out.Reached = append(d.out.Reached, *t)
		case keeps(s.Wait.Code):
			d.claim(i)
			if s.Wait.Code == cw.WaitResources { // else younger ones that need less would take it for ever
				d.free -= d.w.Room.peak(providerOf(d.w, *d.g.initiative(*t)).Name)
			}
		}
	}
	d.out.Standings = append(d.out.Standings, s)
}

// keeps tells whether a task that waits for this keeps its paths against younger
// ones: it is started as soon as there is room.
func keeps(c cw.WaitCode) bool {
	return c == cw.WaitPaths || c == cw.WaitLimit || c == cw.WaitResources || c == cw.WaitPaused
}

// start takes what a task needs.
func (d *decider) start(i int) {
	t := &d.w.Tasks[i]
	in := d.g.initiative(*t)
	p := providerOf(d.w, *in)
	account, _ := d.use.account(d.w.Limits, p)
	d.out.Starts = append(d.out.Starts, Start{Task: t.ID, Name: t.Name, Provider: in.Work.Provider, AccountID: account})
	d.claim(i)
	d.use.take(p.Name, account, *in)
	d.free -= d.w.Room.peak(p.Name)
}

// wait gives the reason why a task is not started; nil when it is.
func (d *decider) wait(i int) *cw.WaitReason {
	for _, why := range [...]func(*decider, *cw.Task) *cw.WaitReason{
		(*decider).waitPhase, (*decider).waitDependency, (*decider).waitPerson, (*decider).waitBlocked, (*decider).waitProject,
		(*decider).waitRetry, (*decider).waitPaused,
	} {
		if reason := why(d, &d.w.Tasks[i]); reason != nil {
			return reason
		}
	}
	if reason := d.waitPaths(i); reason != nil {
		return reason
	}
	for _, why := range [...]func(*decider, *cw.Task) *cw.WaitReason{
		(*decider).waitBudget, (*decider).waitAccount, (*decider).waitLimit, (*decider).waitResources,
	} {
		if reason := why(d, &d.w.Tasks[i]); reason != nil {
			return reason
		}
	}
	return nil
}
