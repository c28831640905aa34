package dispatch

import "cw/internal/cw"

// Standing is where a task is, as the dispatcher sees it.
type Standing struct {
	Task  *cw.Task
	Ready bool // it is started, as far as this decision goes
	// Wait is why not; nil for one that is ready, or that is worked on already. Tasks
	// that wait for the same share it: nobody changes it.
	Wait *cw.WaitReason
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
func Decide(w World) Decision { return boardOf(w).decide(false) }

// decider is one decision in the making.
type decider struct {
	*board
	startsOnly bool // nobody asks why a task waits
	claims     map[cw.ProjectID]*claims
	use        use
	free       int64 // bytes of memory that are left, less than 0 when older tasks wait for more
	out        Decision

	later []*cw.WaitReason // by phase: another one comes first; found when it is asked for
	full  []full           // by initiative
}

// decide says, with startsOnly, nothing of the tasks that are not started.
func (b *board) decide(startsOnly bool) Decision {
	d := decider{
		board: b, startsOnly: startsOnly, claims: map[cw.ProjectID]*claims{}, use: useOf(b.w), free: b.w.Room.FreeMemory - b.w.Room.Reserve,
		later: make([]*cw.WaitReason, len(b.w.Phases)), full: make([]full, len(b.w.Initiatives)),
	}
	for _, a := range b.w.Agents {
		if a.Alive() {
			d.free -= b.w.Room.grows(a)
		}
	}
	for _, i := range b.order { // what is worked on has its paths, wherever it stands in the order
		if working(b.w.Tasks[i].Status) {
			d.claim(i)
		}
	}
	if !startsOnly {
		d.out.Standings = make([]Standing, 0, len(b.order))
	}
	for _, i := range b.order {
		if startsOnly && d.use.machine >= b.w.Limits.Machine {
			break
		}
		d.look(i)
	}
	return d.out
}

// claim gives a task its paths in all projects of its initiative.
func (d *decider) claim(i int) {
	for _, p := range d.groundOf(i).in.Projects {
		if d.claims[p.ID] == nil {
			d.claims[p.ID] = &claims{}
		}
		d.claims[p.ID].add(d.patternsIn(i, p), i)
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
				d.free -= d.w.Room.peak(d.groundOf(i).provider.Name)
			}
		}
	}
	if !d.startsOnly {
		d.out.Standings = append(d.out.Standings, s)
	}
}

// keeps tells whether a task that waits for this keeps its paths against younger
// ones: it is started as soon as there is room.
func keeps(c cw.WaitCode) bool {
	return c == cw.WaitPaths || c == cw.WaitLimit || c == cw.WaitResources || c == cw.WaitPaused
}

// start takes what a task needs.
func (d *decider) start(i int) {
	t, ground := &d.w.Tasks[i], d.groundOf(i)
	account, _ := d.use.account(d.w.Limits, ground.provider)
	d.out.Starts = append(d.out.Starts, Start{Task: t.ID, Name: t.Name, Provider: ground.in.Work.Provider, AccountID: account})
	d.claim(i)
	d.use.take(ground.provider.Name, account, ground.in)
	d.free -= d.w.Room.peak(ground.provider.Name)
}

// wait gives the reason why a task is not started; nil when it is.
func (d *decider) wait(i int) *cw.WaitReason {
	for _, why := range [...]func(*decider, int) *cw.WaitReason{
		(*decider).waitPhase, (*decider).waitCircle, (*decider).waitPhases, (*decider).waitDependency, (*decider).waitPerson,
		(*decider).waitBlocked, (*decider).waitProject, (*decider).waitRetry, (*decider).waitPaused, (*decider).waitPaths,
		(*decider).waitBudget, (*decider).waitAccount, (*decider).waitLimit, (*decider).waitResources,
	} {
		if reason := why(d, i); reason != nil {
			return reason
		}
	}
	return nil
}
