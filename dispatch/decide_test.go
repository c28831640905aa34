package dispatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cw/internal/cw"
)

// oracle knows by itself, and slowly, what is true of a task at the moment at
// which a decision comes to it.
type oracle struct {
	w      World
	agents []cw.TaskAgent // that have a process, and those that were started so far
	held   []cw.Task      // that have their paths
	owed   int64          // memory for which older tasks wait
}

func newOracle(w World) *oracle {
	o := &oracle{w: w}
	for _, a := range w.Agents {
		if !a.Removed && (a.Status == cw.StatusPending || a.Status == cw.StatusStarting || a.Status == cw.StatusRunning) {
			o.agents = append(o.agents, a)
		}
	}
	for _, t := range w.Tasks {
		if t.Status == cw.TaskRunning || t.Status == cw.TaskVerifying || t.Status == cw.TaskMerging {
			o.held = append(o.held, t)
		}
	}
	return o
}

// rules are the reasons in the order in which they are looked at, each with what
// makes it true.
func (o *oracle) rules() []struct {
	code cw.WaitCode
	true func(cw.Task) bool
} {
	return []struct {
		code cw.WaitCode
		true func(cw.Task) bool
	}{
		{cw.WaitPhase, func(t cw.Task) bool {
			p := o.phase(t.PhaseID)
			return p.Status != cw.PhaseApproved && p.Status != cw.PhaseRunning
		}},
		{cw.WaitCircle, o.circle},
		{cw.WaitPhase, func(t cw.Task) bool {
			return slices.ContainsFunc(o.phase(t.PhaseID).DependsOn, func(id cw.PhaseID) bool { return !o.over(id) })
		}},
		{cw.WaitDependency, func(t cw.Task) bool { return len(o.before(t)) > 0 }},
		{cw.WaitPerson, func(t cw.Task) bool {
			return t.Status != cw.TaskBlocked && (t.Type == cw.TaskCheckpointDecide || t.Type == cw.TaskCheckpointAction)
		}},
		{cw.WaitBlocked, func(t cw.Task) bool { return t.Status == cw.TaskBlocked }},
		{cw.WaitProject, func(t cw.Task) bool {
			i := initiativeOf(o.w, t.InitiativeID)
			return i.Work.Hold || len(i.Projects) == 0 || o.provider(t).Problem != nil || slices.ContainsFunc(i.Projects, func(p cw.InitiativeProject) bool {
				_, trouble := o.w.Troubles[p.ID]
				return trouble
			})
		}},
		{cw.WaitRetry, func(t cw.Task) bool { return t.RetryAt != nil && t.RetryAt.After(o.w.Now) }},
		{cw.WaitPaused, func(cw.Task) bool { return o.w.State != cw.DispatchRunning }},
		{cw.WaitPaths, func(t cw.Task) bool {
			return slices.ContainsFunc(o.held, func(h cw.Task) bool { return h.ID != t.ID && overlapping(o.w, t, h) })
		}},
		{cw.WaitBudget, func(t cw.Task) bool { return slices.Contains(o.w.OverBudget, t.InitiativeID) }},
		{cw.WaitAccount, func(t cw.Task) bool { return o.provider(t).Limited }},
		{cw.WaitLimit, o.full},
		{cw.WaitResources, func(t cw.Task) bool {
			return o.w.Room.DiskLow != "" || o.w.Room.FreeMemory > 0 && len(o.agents) > 0 && o.free() < o.w.Room.peak(o.provider(t).Name)
		}},
	}
}

func (o *oracle) phase(id cw.PhaseID) cw.Phase {
	return o.w.Phases[slices.IndexFunc(o.w.Phases, func(p cw.Phase) bool { return p.ID == id })]
}

func (o *oracle) provider(t cw.Task) Provider {
	return o.w.Providers[initiativeOf(o.w, t.InitiativeID).Work.Provider]
}

func (o *oracle) over(id cw.PhaseID) bool {
	p, some := o.phase(id), false
	for _, t := range o.w.Tasks {
		if t.PhaseID == id {
			if some = true; t.Status != cw.TaskDone && p.Status != cw.PhaseArchived {
				return false
			}
		}
	}
	return some || p.Status == cw.PhaseDone || p.Status == cw.PhaseArchived || slices.Contains(o.w.Dropped, id) && p.Status != cw.PhaseDraft
}

// acceptedIn tells whether a phase has a task that is left and that people
// accepted.
func (o *oracle) acceptedIn(id cw.PhaseID) bool {
	return slices.ContainsFunc(o.w.Tasks, func(t cw.Task) bool {
		return t.PhaseID == id && t.Status != cw.TaskDone && t.Status != cw.TaskDraft
	})
}

func (o *oracle) before(t cw.Task) []cw.TaskID {
	var out []cw.TaskID
	for _, other := range o.w.Tasks {
		if slices.Contains(t.DependsOn, other.ID) && other.Status != cw.TaskDone {
			out = append(out, other.ID)
		}
	}
	return out
}

// circle tells whether a task comes before itself, or stands between two that do.
func (o *oracle) circle(t cw.Task) bool {
	after := map[string][]string{}
	edge := func(from, to string) { after[from] = append(after[from], to) }
	for _, x := range o.w.Tasks {
		if x.Status == cw.TaskDone {
			continue
		}
		edge("begin "+string(x.PhaseID), string(x.ID))
		edge(string(x.ID), "end "+string(x.PhaseID))
		for _, b := range o.before(x) {
			edge(string(b), string(x.ID))
		}
	}
	for _, p := range o.w.Phases {
		for _, b := range p.DependsOn {
			if !o.over(b) {
				edge("end "+string(b), "begin "+string(p.ID))
			}
		}
	}
	reach := func(from string) map[string]bool {
		seen, open := map[string]bool{}, slices.Clone(after[from])
		for len(open) > 0 {
			x := open[0]
			if open = open[1:]; !seen[x] {
				seen[x] = true
				open = append(open, after[x]...)
			}
		}
		return seen
	}
	into, out := false, false
	mine := reach(string(t.ID))
	for node := range after {
		if from := reach(node); from[node] {
			into = into || from[string(t.ID)]
			out = out || mine[node]
		}
	}
	return into && out
}

func (o *oracle) full(t cw.Task) bool {
	initiative, p, l := initiativeOf(o.w, t.InitiativeID), o.provider(t), o.w.Limits
	count := func(is func(cw.TaskAgent) bool) int {
		n := 0
		for _, a := range o.agents {
			if is(a) {
				n++
			}
		}
		return n
	}
	reached := func(n, most int) bool { return most > 0 && n >= most }
	if reached(len(o.agents), l.Machine) || reached(count(func(a cw.TaskAgent) bool { return a.Provider == p.Name }), l.Provider) ||
		reached(count(func(a cw.TaskAgent) bool { return a.InitiativeID == initiative.ID }), l.Initiative) {
		return true
	}
	for _, project := range initiative.Projects {
		if reached(count(func(a cw.TaskAgent) bool { return slices.Contains(a.ProjectIDs, project.ID) }), l.Project) {
			return true
		}
	}
	return len(p.Accounts) > 0 && !slices.ContainsFunc(p.Accounts, func(account cw.Account) bool {
		return !reached(count(func(a cw.TaskAgent) bool { return a.AccountID == account.ID }), l.Account)
	})
}

// free is the memory that nobody has, is going to take, or waits for.
func (o *oracle) free() int64 {
	free := o.w.Room.FreeMemory - o.w.Room.Reserve - o.owed
	for _, a := range o.agents {
		free -= max(o.w.Room.peak(a.Provider)-o.w.Room.Held[a.ID], 0)
	}
	return free
}

// take follows a decision by one step.
func (o *oracle) take(s Standing, start *Start) {
	t := *s.Task
	switch {
	case start != nil:
		w := World{DispatchWorld: cw.DispatchWorld{Initiatives: o.w.Initiatives}, Providers: o.w.Providers}
		giveAgent(&w, &t, cw.StatusPending, start.AccountID)
		o.agents, o.held = append(o.agents, w.Agents...), append(o.held, t)
	case s.Wait != nil && slices.Contains([]cw.WaitCode{cw.WaitPaths, cw.WaitLimit, cw.WaitResources, cw.WaitPaused}, s.Wait.Code):
		o.held = append(o.held, t)
		if s.Wait.Code == cw.WaitResources {
			o.owed += o.w.Room.peak(o.provider(t).Name)
		}
	}
}

// checkDecision checks everything that must hold of a decision.
func checkDecision(t *rapid.T, w World, d Decision) {
	o := newOracle(w)
	starts := d.Starts
	seen := map[cw.TaskID]bool{}
	for i, s := range d.Standings {
		if seen[s.Task.ID] {
			t.Fatalf("%s stands there twice", s.Task.ID)
		}
		seen[s.Task.ID] = true
		if i > 0 && older(*s.Task, *d.Standings[i-1].Task) {
			t.Fatalf("%s stands before %s", d.Standings[i-1].Task.ID, s.Task.ID)
		}
		var start *Start
		if s.Ready {
			if len(starts) == 0 || starts[0].Task != s.Task.ID {
				t.Fatalf("%s is ready and not started", s.Task.ID)
			}
			start, starts = &starts[0], starts[1:]
		}
		if working(s.Task.Status) {
			if s.Ready || s.Wait != nil {
				t.Fatalf("%s is worked on, and %+v", s.Task.ID, s)
			}
			continue
		}
		want := cw.WaitCode("")
		for _, r := range o.rules() {
			if r.true(*s.Task) {
				want = r.code
				break
			}
		}
		got := cw.WaitCode("")
		if s.Wait != nil {
			got = s.Wait.Code
			checkReason(t, o, s)
		}
		if s.Ready != (s.Wait == nil) || got != want {
			t.Fatalf("%s is ready: %v, for the reason %q; true is %q", s.Task.ID, s.Ready, got, want)
		}
		o.take(s, start)
	}
	if len(starts) > 0 {
		t.Fatalf("%+v are started, and do not stand there", starts)
	}
	for _, task := range w.Tasks {
		if over := task.Status == cw.TaskDraft || task.Status == cw.TaskDone || task.Status == cw.TaskCancelled; over == seen[task.ID] {
			t.Fatalf("%s, which is %s, stands there: %v", task.ID, task.Status, seen[task.ID])
		}
	}
	checkStarted(t, w, o, d)
}

// checkReason checks what a reason names.
func checkReason(t *rapid.T, o *oracle, s Standing) {
	if s.Wait.Text == "" {
		t.Fatalf("%s waits without a word", s.Task.ID)
	}
	switch s.Wait.Code {
	case cw.WaitPhase: // what does not pass by itself says what to do
		for _, id := range o.phase(s.Task.PhaseID).DependsOn {
			p := o.phase(id)
			if strings.Contains(s.Wait.Text, "comes first") && !o.over(id) && (p.Status == cw.PhaseDraft || !o.acceptedIn(id)) && s.Wait.Hint == "" && len(o.phase(s.Task.PhaseID).DependsOn) == 1 {
				t.Fatalf("%s waits for %s, which never ends by itself, and says only: %s", s.Task.ID, id, s.Wait.Text)
			}
		}
	case cw.WaitDependency:
		got := slices.Clone(s.Wait.Tasks)
		slices.Sort(got)
		want := o.before(*s.Task)
		slices.Sort(want)
		if !slices.Equal(slices.Compact(got), want) {
			t.Fatalf("%s waits for %v, it says %v", s.Task.ID, want, got)
		}
	case cw.WaitPaths:
		if !slices.ContainsFunc(o.held, func(h cw.Task) bool { return slices.Contains(s.Wait.Tasks, h.ID) && overlapping(o.w, *s.Task, h) }) {
			t.Fatalf("%s waits for %v, whose paths are others", s.Task.ID, s.Wait.Tasks)
		}
	case cw.WaitRetry:
		if s.Wait.Until == nil || !s.Wait.Until.After(o.w.Now) {
			t.Fatalf("%s waits until %v", s.Task.ID, s.Wait.Until)
		}
	}
}

// checkStarted checks what holds after all starts, whatever came first.
func checkStarted(t *rapid.T, w World, o *oracle, d Decision) {
	started := map[cw.TaskID]bool{}
	for _, s := range d.Starts {
		started[s.Task] = true
	}
	busy := func(x cw.Task) bool { return started[x.ID] || working(x.Status) }
	for i, a := range w.Tasks {
		for _, b := range w.Tasks[:i] {
			if busy(a) && busy(b) && (started[a.ID] || started[b.ID]) && overlapping(w, a, b) {
				t.Fatalf("%s and %s work on the same files", a.ID, b.ID)
			}
		}
	}
	if len(d.Starts) > 0 && len(o.agents) > w.Limits.Machine {
		t.Fatalf("%d agents, at most %d may be", len(o.agents), w.Limits.Machine)
	}
	for _, r := range d.Reached {
		if r.Status != cw.TaskPending || r.Type != cw.TaskCheckpointDecide && r.Type != cw.TaskCheckpointAction {
			t.Fatalf("%s, which is %s, is shown to people", r.ID, r.Status)
		}
	}
}

func older(a, b cw.Task) bool {
	x, y := slices.Index(cw.TaskPriorities(), a.Priority), slices.Index(cw.TaskPriorities(), b.Priority)
	return x < y || x == y && a.CreatedAt.Before(b.CreatedAt)
}

// TestDecide: of generated worlds, every decision is right, and every reason true.
func TestDecide(t *testing.T) {
	t.Parallel()
	codes := map[cw.WaitCode]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := worlds(shape{circles: true}).Draw(t, "world")
		d := Decide(w)
		checkDecision(t, w, d)
		for _, s := range d.Standings {
			if s.Wait != nil {
				codes[s.Wait.Code]++
			}
		}
	})
	for _, code := range []cw.WaitCode{cw.WaitPhase, cw.WaitDependency, cw.WaitPaths, cw.WaitLimit} {
		if codes[code] == 0 {
			t.Errorf("no task waited for %s: %v", code, codes)
		}
	}
}

// TestDecideWholeRun: whatever agents do, every task is done in the end, and each
// decision on the way is right.
func TestDecideWholeRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := run{t: t, w: worlds(shape{calm: true}).Draw(t, "world"), failures: rapid.IntRange(0, 8).Draw(t, "failures")}
		for turn := 0; !r.done(); turn++ {
			if turn > 2000 {
				t.Fatalf("it does not end: %+v", Decide(r.w).Standings)
			}
			r.settle()
			d := Decide(r.w)
			checkDecision(t, r.w, d)
			for _, s := range d.Starts {
				task := r.task(s.Task)
				task.Status = cw.TaskRunning
				giveAgent(&r.w, task, cw.StatusRunning, s.AccountID)
			}
			for _, c := range d.Reached {
				r.task(c.ID).Status = cw.TaskReady
			}
			if !r.agentsGoOn() && !r.peopleAct() && !r.timePasses() && !r.done() {
				t.Fatalf("nothing happens any more, and not all is done: %+v", d.Standings)
			}
		}
	})
}

// run is a world in which things happen.
type run struct {
	t        *rapid.T
	w        World
	failures int // how many may still happen
}

func (r *run) task(id cw.TaskID) *cw.Task { return taskOf(r.w, id) }

func (r *run) done() bool {
	return !slices.ContainsFunc(r.w.Tasks, func(t cw.Task) bool { return t.Status != cw.TaskDone })
}

// settle does to the world what the dispatcher does to the store.
func (r *run) settle() {
	for i := range r.w.Tasks {
		t := &r.w.Tasks[i]
		if t.AgentID == "" {
			continue
		}
		agent := r.w.Agents[slices.IndexFunc(r.w.Agents, func(a cw.TaskAgent) bool { return a.ID == t.AgentID })]
		a := afterRun(*t, &agent, nil, Policy{Retries: 1}, r.w.Now)
		switch a.kind {
		case afterClose:
			t.Status = cw.TaskDone
		case afterQueue:
			t.Status = cw.TaskVerifying
		case afterRetry:
			t.Status, t.RetryAt = cw.TaskPending, &a.at
			if a.outside {
				t.Setbacks++
			} else {
				t.Tries, t.Setbacks = t.Tries+1, 0
			}
		case afterBlock:
			t.Status, t.RetryAt = cw.TaskBlocked, nil
		case afterWork:
			t.Status = cw.TaskRunning
		}
	}
}

// agentsGoOn lets one agent end, or one merge.
func (r *run) agentsGoOn() bool {
	var able []int
	for i := range r.w.Tasks {
		if working(r.w.Tasks[i].Status) {
			able = append(able, i)
		}
	}
	if len(able) == 0 {
		return false
	}
	t := &r.w.Tasks[rapid.SampledFrom(able).Draw(r.t, "who goes on")]
	a := &r.w.Agents[slices.IndexFunc(r.w.Agents, func(a cw.TaskAgent) bool { return a.ID == t.AgentID })]
	if t.Status != cw.TaskRunning {
		t.Status = cw.TaskDone
		return true
	}
	if a.Status = cw.StatusIdle; r.failures > 0 {
		switch r.failures--; rapid.IntRange(0, 5).Draw(r.t, "what fails") {
		case 0:
			a.Status, a.Reason = cw.StatusCrashed, cw.ReasonKilled
		case 1:
			a.Status, a.Reason = cw.StatusCrashed, cw.ReasonReboot
		case 2:
			a.Status, a.Reason = cw.StatusStopped, cw.ReasonUser
		case 3:
			a.Dirty = 1
		case 4:
			a.Removed = true
		}
		return true
	}
	if a.Commits = rapid.IntRange(0, 1).Draw(r.t, "commits"); a.Commits == 0 {
		a.NoChanges = "nothing was to be done"
	}
	return true
}

// peopleAct lets people do what they are asked for.
func (r *run) peopleAct() bool {
	for i := range r.w.Tasks {
		t := &r.w.Tasks[i]
		switch {
		case t.Status == cw.TaskReady:
			t.Status = cw.TaskDone
			return true
		case t.Status == cw.TaskBlocked:
			t.Status, t.Tries, t.Setbacks = cw.TaskPending, 0, 0
			return true
		}
	}
	return false
}

func (r *run) timePasses() bool {
	for _, t := range r.w.Tasks {
		if t.RetryAt != nil && t.RetryAt.After(r.w.Now) {
			r.w.Now = *t.RetryAt
			return true
		}
	}
	return false
}

// TestDecideCircle: tasks that wait for themselves say so, and those behind them
// say what they wait for.
func TestDecideCircle(t *testing.T) {
	t.Parallel()
	w := World{Now: noon, Limits: cw.DispatchLimits{Machine: 9}, DispatchWorld: cw.DispatchWorld{
		State:       cw.DispatchRunning,
		Initiatives: []cw.Initiative{{ID: "i", Slug: "shop", Projects: []cw.InitiativeProject{{ID: "p"}}}},
		Phases:      []cw.Phase{{ID: "a", Status: cw.PhaseApproved}, {ID: "b", Status: cw.PhaseApproved, DependsOn: []cw.PhaseID{"a"}}},
	}}
	add := func(id cw.TaskID, phase cw.PhaseID, on ...cw.TaskID) {
		w.Tasks = append(w.Tasks, cw.Task{ID: id, InitiativeID: "i", PhaseID: phase, Status: cw.TaskPending, DependsOn: on, Type: cw.TaskAuto})
	}
	add("1 free", "a")
	add("2 circle", "a", "3 circle")
	add("3 circle", "a", "2 circle")
	add("4 dependency", "a", "3 circle")
	add("5 itself", "a", "5 itself")
	add("6 later", "b")
	want := []cw.WaitCode{"", cw.WaitCircle, cw.WaitCircle, cw.WaitDependency, cw.WaitCircle, cw.WaitPhase}
	check := func() {
		t.Helper()
		for i, s := range Decide(w).Standings {
			code := cw.WaitCode("")
			if s.Wait != nil {
				code = s.Wait.Code
			}
			if code != want[i] {
				t.Errorf("%s waits for %q, want %q", s.Task.ID, code, want[i])
			}
		}
	}
	check()
	w.Tasks[3].DependsOn = []cw.TaskID{"6 later"} // a task that waits for a phase after its own
	want = []cw.WaitCode{"", cw.WaitCircle, cw.WaitCircle, cw.WaitCircle, cw.WaitCircle, cw.WaitCircle}
	check()
}

// TestDecideKeepsMemory: a task that needs much is not overtaken for ever by those
// that need little.
func TestDecideKeepsMemory(t *testing.T) {
	t.Parallel()
	w := crowd(2)
	w.Initiatives = append(w.Initiatives, w.Initiatives[0])
	w.Initiatives[0].ID, w.Initiatives[0].Work.Provider = "big", "beta"
	w.Tasks[0].InitiativeID = "big"
	w.Tasks[1].CreatedAt = noon.Add(time.Minute)
	w.Providers = map[string]Provider{"beta": {Name: "beta"}, "": {Name: "alpha"}}
	w.Agents = []cw.TaskAgent{{ID: "other", Status: cw.StatusRunning, Provider: "alpha"}}
	w.Room = Room{FreeMemory: 3 << 30, Peaks: map[string]int64{"beta": 4 << 30, "alpha": 1 << 30}, Held: map[cw.AgentID]int64{"other": 1 << 30}}
	d := Decide(w)
	if len(d.Starts) > 0 || d.Pressure == "" {
		t.Errorf("%+v started, pressure %q", d.Starts, d.Pressure)
	}
	w.Agents = nil
	if d = Decide(w); len(d.Starts) != 1 || d.Starts[0].Task != w.Tasks[0].ID {
		t.Errorf("%+v started: one that is alone may always try", d.Starts)
	}
}

// TestDecideGrowth: what an agent is going to take is not free, though it is not
// taken yet.
func TestDecideGrowth(t *testing.T) {
	t.Parallel()
	w := crowd(1)
	w.Agents = []cw.TaskAgent{{ID: "other", Status: cw.StatusRunning, Provider: "alpha"}}
	w.Providers = map[string]Provider{"": {Name: "alpha"}}
	w.Room = Room{FreeMemory: 3 << 29, Peaks: map[string]int64{"alpha": 1 << 30}}
	if d := Decide(w); len(d.Starts) > 0 {
		t.Errorf("%+v started", d.Starts)
	}
	w.Room.Held = map[cw.AgentID]int64{"other": 1 << 30}
	if d := Decide(w); len(d.Starts) != 1 {
		t.Errorf("%+v started", d.Starts)
	}
}

// crowd is a world with so many tasks that have nothing to do with each other.
func crowd(n int) World {
	w := World{Now: noon, Limits: cw.DispatchLimits{Machine: 8}, DispatchWorld: cw.DispatchWorld{
		State:       cw.DispatchRunning,
		Initiatives: []cw.Initiative{{ID: "i", Slug: "shop", Projects: []cw.InitiativeProject{{ID: "p", Name: "shop"}}}},
		Phases:      []cw.Phase{{ID: "a", InitiativeID: "i", Name: "one", Status: cw.PhaseApproved}},
	}}
	for i := range n {
		w.Tasks = append(w.Tasks, cw.Task{
			ID: cw.TaskID(fmt.Sprintf("t%05d", i)), InitiativeID: "i", PhaseID: "a", Name: fmt.Sprint("task ", i), Type: cw.TaskAuto, Status: cw.TaskPending,
			Priority: cw.PriorityMedium, Size: cw.SizeSmall, CreatedAt: noon, Position: i, Paths: []string{fmt.Sprintf("src/p%d/**", i)},
		})
	}
	return w
}

// TestDecideWithdraws: a checkpoint that was reached waits again when a task that
// comes before it is undone.
func TestDecideWithdraws(t *testing.T) {
	t.Parallel()
	for _, before := range []cw.TaskStatus{cw.TaskDone, cw.TaskPending} {
		d := Decide(World{Now: noon, Limits: cw.DispatchLimits{Machine: 9}, DispatchWorld: cw.DispatchWorld{
			State:       cw.DispatchRunning,
			Initiatives: []cw.Initiative{{ID: "i", Slug: "shop", Projects: []cw.InitiativeProject{{ID: "p"}}}},
			Phases:      []cw.Phase{{ID: "a", Status: cw.PhaseApproved}},
			Tasks: []cw.Task{
				{ID: "1", InitiativeID: "i", PhaseID: "a", Status: before, Type: cw.TaskAuto},
				{ID: "2", InitiativeID: "i", PhaseID: "a", Status: cw.TaskReady, Type: cw.TaskCheckpointDecide, DependsOn: []cw.TaskID{"1"}},
			},
		}})
		if withdrawn := len(d.Withdrawn) == 1 && d.Withdrawn[0].ID == "2"; withdrawn != (before == cw.TaskPending) {
			t.Errorf("the task before is %s: %+v", before, d.Withdrawn)
		}
	}
}
