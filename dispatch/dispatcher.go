package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"cw/internal/cw"
)

const (
	// restTime is the time between two looks when nothing is told.
	restTime = 5 * time.Second
	// settleTime is the time between two looks while cw clears up after an agent.
	settleTime = 50 * time.Millisecond
	// leastTime is the least time between two looks: much that is told at once is
	// looked at once.
	leastTime = 20 * time.Millisecond
	// shareOfTime bounds what looking costs: a look that took long is followed by a
	// pause so many times as long.
	shareOfTime = 4
)

// Config is what a Dispatcher is made from.
type Config struct {
	Store   Store
	Agents  Agents
	Repos   Repos
	Machine Machine
	// Limits bounds how many agents work at once, and Policy how often a task is
	// tried again.
	Limits cw.DispatchLimits
	Policy Policy
	// Conflicts is how often work that conflicts, or whose checks fail, goes back to
	// its agent before a person has to look.
	Conflicts int
	// Checks is how many merges are checked at once, at least 1.
	Checks int
	// Scratch is the folder for the checkouts that are checked.
	Scratch string
	Log     *slog.Logger
	Fail    cw.Failpoint
	Now     func() time.Time // nil: the clock
}

// Dispatcher starts tasks and merges what comes out of them. It implements
// cw.DispatchService and cw.MergeService.
type Dispatcher struct {
	Config

	bell  chan struct{}
	slots chan struct{} // of checks

	mu       sync.Mutex
	starting map[cw.TaskID]cw.TaskAgent // guarded by mu: an agent is being made for it, of which this much is known
	stopping map[cw.AgentID]bool        // guarded by mu: its task was cancelled
	merging  map[cw.InitiativeID]*onWay // guarded by mu: its queue is being worked off
	showing  map[cw.InitiativeID]bool   // guarded by mu: its branch is being shown; true: it moved meanwhile
	pressure string                     // guarded by mu: as it was last told
	counts   Counts                     // guarded by mu: as of the last look
	work     sync.WaitGroup
}

var (
	_ cw.DispatchService = (*Dispatcher)(nil)
	_ cw.MergeService    = (*Dispatcher)(nil)
)

// New makes a dispatcher. It does nothing before Run.
func New(c Config) *Dispatcher {
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() }
	}
	c.Checks = max(c.Checks, 1)
	return &Dispatcher{
		Config: c, bell: make(chan struct{}, 1), slots: make(chan struct{}, c.Checks),
		starting: map[cw.TaskID]cw.TaskAgent{}, stopping: map[cw.AgentID]bool{}, merging: map[cw.InitiativeID]*onWay{},
		showing: map[cw.InitiativeID]bool{},
	}
}

// Ring says that something may have changed. It never waits.
func (d *Dispatcher) Ring() {
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

// Run looks and acts until ctx ends, and then waits for what it began. Agents
// and checks that run are let go of, not ended: the next daemon finds them.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.work.Wait()
	d.takeUp(ctx)
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.bell:
		case <-rest.C:
		}
		began := time.Now()
		next, err := d.look(ctx)
		if err != nil && ctx.Err() == nil {
			d.Log.Error("look at the tasks", "error", err)
		}
		rest.Reset(next)
		pause := max(leastTime, time.Since(began)*shareOfTime)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// look is one turn: see what became of agents, start what is ready, and merge. It
// gives the time after which to look again when nobody rings.
func (d *Dispatcher) look(ctx context.Context) (time.Duration, error) {
	w, err := d.observe(ctx)
	if err != nil {
		return restTime, err
	}
	if err := d.settle(ctx, w); err != nil {
		return restTime, err
	}
	d.letGoOfMerges(w)
	decision := Decide(w)
	if err := d.withdraw(ctx, decision.Withdrawn); err != nil {
		return restTime, err
	}
	if err := d.reach(ctx, decision.Reached); err != nil {
		return restTime, err
	}
	d.tellPressure(decision.Pressure)
	d.count(w, decision)
	for _, s := range decision.Starts {
		d.start(ctx, w, s)
	}
	d.merge(ctx, w)
	return untilNext(w), nil
}

// Counts is how many tasks are where.
type Counts struct{ Running, Ready, Waiting, Checkpoints, Merges int }

// Counts tells how many tasks were where at the last look.
func (d *Dispatcher) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

func (d *Dispatcher) count(w World, decision Decision) {
	c := Counts{Merges: len(w.Merges)}
	for _, s := range decision.Standings {
		switch {
		case s.Ready:
			c.Ready++
		case s.Wait == nil:
			c.Running++
		default:
			c.Waiting++
			if s.Wait.Code == cw.WaitPerson {
				c.Checkpoints++
			}
		}
	}
	for _, m := range w.Merges {
		if m.AwaitsPerson() {
			c.Checkpoints++
		}
	}
	d.mu.Lock()
	d.counts = c
	d.mu.Unlock()
}

// untilNext is the time until something becomes due by itself.
func untilNext(w World) time.Duration {
	next := restTime
	for _, a := range w.Agents {
		if a.Settling && a.TaskID != "" { // no event tells its end
			next = settleTime
		}
	}
	for _, t := range w.Tasks {
		if t.RetryAt != nil && t.RetryAt.After(w.Now) {
			next = min(next, t.RetryAt.Sub(w.Now))
		}
	}
	return max(next, leastTime)
}

// observe gathers what a decision looks at. Tasks that are being started count as
// running.
func (d *Dispatcher) observe(ctx context.Context) (World, error) {
	d.mu.Lock() // before the rows are read: what is started meanwhile counts as being started
	starting := maps.Clone(d.starting)
	d.mu.Unlock()
	stored, err := d.Store.DispatchWorld(ctx)
	if err != nil {
		return World{}, err
	}
	w := World{DispatchWorld: stored, Now: d.Now(), Limits: d.Limits, Troubles: map[cw.ProjectID]cw.Problem{}}
	w.addStarting(starting)
	if len(w.Initiatives) == 0 {
		return w, nil
	}
	names := map[string]bool{"": true}
	for _, in := range w.Initiatives {
		names[in.Work.Provider] = true
		if in.Work.Script != "" {
			names["script"] = true
		}
	}
	list := make([]string, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	w.Providers = d.Machine.Providers(ctx, list)
	w.Room = d.Machine.Room(ctx)
	return w, d.findTroubles(ctx, &w)
}

// findTroubles looks at the project files of projects in which something may be
// started: where commands wait for a person's trust, nothing is.
func (d *Dispatcher) findTroubles(ctx context.Context, w *World) error {
	for _, in := range w.Initiatives {
		if !mayStart(*w, in.ID) {
			continue
		}
		have, err := d.Store.IntegrationsOf(ctx, in.ID)
		if err != nil {
			return err
		}
		for _, ref := range in.Projects {
			p, err := d.Store.ProjectByRef(ctx, string(ref.ID))
			if cw.ErrorCode(err) == cw.CodeNotFound {
				w.Troubles[ref.ID] = cw.Problem{Text: fmt.Sprintf("the project %s was removed", ref.Name), Hint: "set the projects of the initiative: cw initiative edit " + in.Slug + " --project PATH"}
				continue
			}
			if err != nil {
				return err
			}
			head := ""
			for _, i := range have {
				if i.ProjectID == p.ID {
					head = i.Head
				}
			}
			if problem, there := d.troubleOf(ctx, p, head); there {
				w.Troubles[p.ID] = problem
			}
		}
	}
	return nil
}

// mayStart tells whether an initiative has a task that waits.
func mayStart(w World, id cw.InitiativeID) bool {
	for _, t := range w.Tasks {
		if t.InitiativeID == id && (t.Status == cw.TaskPending || t.Status == cw.TaskReady) {
			return true
		}
	}
	return false
}

// troubleOf tells why nothing can be started in a project; head is the commit
// from which an agent would begin, "" for that of the user's checkout.
func (d *Dispatcher) troubleOf(ctx context.Context, p cw.Project, head string) (cw.Problem, bool) {
	f, err := d.Repos.File(ctx, p, head)
	switch {
	case err != nil:
		return cw.Problem{Text: fmt.Sprintf("the project %s cannot be read: %s", p.Name, err), Hint: cw.ErrorHint(err)}, true
	case f.Problem != "":
		return cw.Problem{Text: fmt.Sprintf("cw.yaml of %s cannot be used: %s", p.Name, f.Problem), Hint: "mend it and commit"}, true
	case !f.Trusted:
		return cw.Problem{Text: fmt.Sprintf("cw.yaml of %s has commands that nobody has trusted", p.Name), Hint: trustHint(p, head)}, true
	}
	return cw.Problem{}, false
}

func trustHint(p cw.Project, commit string) string {
	if commit == "" {
		return "look at it and trust it: cw project trust " + p.Name
	}
	return fmt.Sprintf("look at it and trust it: cw project trust %s --ref %s", p.Name, commit)
}

// tellPressure logs when the machine begins or ceases to hold everything up.
func (d *Dispatcher) tellPressure(now string) {
	d.mu.Lock()
	before := d.pressure
	d.pressure = now
	d.mu.Unlock()
	if (before == "") != (now == "") {
		d.Log.Info("room for agents", "short", now)
	}
}

// scratchOf is the folder in which one part of a merge is checked.
func (d *Dispatcher) scratchOf(m cw.Merge, p cw.MergePart) string {
	return filepath.Join(d.Scratch, string(m.ID)+"-"+string(p.ProjectID))
}
