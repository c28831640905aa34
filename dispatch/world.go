package dispatch

import (
	"time"

	"cw/internal/cw"
)

// World is what a decision looks at: what is stored, and what was measured
// beside it.
type World struct {
	cw.DispatchWorld

	Now       time.Time
	Limits    cw.DispatchLimits
	Room      Room
	Providers map[string]Provider         // by name; "" is the one that is taken when nobody names any
	Troubles  map[cw.ProjectID]cw.Problem // why nothing can be started in a project
}

// addStarting adds the agents that are being made. They count like any other;
// one whose row is there already counts once.
func (w *World) addStarting(starting map[cw.TaskID]cw.TaskAgent) {
	if len(starting) == 0 {
		return
	}
	there := map[cw.TaskID]bool{}
	for _, a := range w.Agents {
		there[a.TaskID] = there[a.TaskID] || a.Alive()
	}
	for i := range w.Tasks {
		t := &w.Tasks[i]
		a, being := starting[t.ID]
		if !being || t.Status == cw.TaskDone {
			continue
		}
		t.Status = cw.TaskRunning
		if !there[t.ID] {
			w.Agents = append(w.Agents, a)
		}
	}
}

// Room is what the machine has left.
type Room struct {
	DiskLow    string           // why no run may be started; "" when there is enough space
	FreeMemory int64            // bytes that a new process can have; 0: not known
	Reserve    int64            // bytes that stay free whatever is started
	Peaks      map[string]int64 // by provider: the most that one of its agents had at once, in bytes
	// Held is what agents had in memory when they were looked at last, in bytes: what
	// is missing to their peak they are going to take, and it is not free.
	Held map[cw.AgentID]int64
}

// PeakAssumed is what an agent is thought to need of memory before one of its
// provider was seen: what a CLI with a language server takes.
const PeakAssumed = 600 << 20

// peak is what an agent of a provider is thought to need.
func (r Room) peak(provider string) int64 {
	if p := r.Peaks[provider]; p > 0 {
		return p
	}
	return PeakAssumed
}

// grows is what an agent is going to take beside what it has.
func (r Room) grows(a cw.TaskAgent) int64 { return max(r.peak(a.Provider)-r.Held[a.ID], 0) }

// Provider is what is known of a provider before an agent of it is started.
type Provider struct {
	Name     string
	Problem  *cw.Problem  // why none can be started; nil for nothing
	Accounts []cw.Account // those that can be used now, by priority
	Until    *time.Time   // when there is one again; nil when there is one, or it is not known
	Limited  bool         // it has accounts, and all of them are at their limit
}

// providerOf names the provider that does the tasks of an initiative.
func providerOf(w World, in cw.Initiative) Provider {
	name := in.Work.Provider
	if name == "" && in.Work.Script != "" {
		name = "script"
	}
	p, known := w.Providers[name]
	if !known {
		p.Name = name
	}
	return p
}
