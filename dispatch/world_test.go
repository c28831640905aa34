package dispatch

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"cw/internal/cw"
)

// noon is when every generated world is looked at.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func in(d time.Duration) *time.Time {
	t := noon.Add(d)
	return &t
}

// shape says what may be in a generated world.
type shape struct {
	circles bool // what comes before may come after
	calm    bool // nothing stands in the way but what passes by itself or by a person, and nobody works yet
}

// worlds draws a world: some initiatives that share projects, each with phases
// and tasks.
func worlds(s shape) *rapid.Generator[World] {
	return rapid.Custom(func(t *rapid.T) World {
		w := World{Now: noon, Troubles: map[cw.ProjectID]cw.Problem{}, Providers: map[string]Provider{}}
		w.State = cw.DispatchRunning
		if !s.calm && few(t, "state") {
			w.State = rapid.SampledFrom(cw.DispatchStates()).Draw(t, "which state")
		}
		w.Limits = cw.DispatchLimits{
			Machine: rapid.IntRange(1, 6).Draw(t, "machine"), Provider: rapid.IntRange(0, 3).Draw(t, "provider"), Account: rapid.IntRange(0, 2).Draw(t, "account"),
			Project: rapid.IntRange(0, 3).Draw(t, "project"), Initiative: rapid.IntRange(0, 3).Draw(t, "initiative"),
		}
		drawProviders(t, s, &w)
		drawRoom(t, s, &w)
		for i := range rapid.IntRange(1, 3).Draw(t, "initiatives") {
			drawInitiative(t, s, &w, i)
		}
		if !s.calm {
			drawAgents(t, &w)
		}
		return w
	})
}

// few is true now and then.
func few(t *rapid.T, what string) bool { return rapid.IntRange(0, 9).Draw(t, what) == 9 }

func drawProviders(t *rapid.T, s shape, w *World) {
	for _, name := range []string{"alpha", "beta"} {
		p := Provider{Name: name}
		for i := range rapid.IntRange(0, 2).Draw(t, "accounts") {
			p.Accounts = append(p.Accounts, cw.Account{ID: cw.AccountID(fmt.Sprint(name, i))})
		}
		if !s.calm && few(t, "limited") {
			p.Limited, p.Accounts, p.Until = true, nil, in(time.Hour)
		}
		if !s.calm && few(t, "missing") {
			p.Problem = &cw.Problem{Text: "it is not installed"}
		}
		w.Providers[name] = p
	}
	w.Providers[""] = w.Providers["alpha"]
}

func drawRoom(t *rapid.T, s shape, w *World) {
	if rapid.Bool().Draw(t, "memory known") {
		w.Room = Room{
			FreeMemory: int64(rapid.IntRange(1, 8).Draw(t, "free")) << 29, Reserve: 1 << 29,
			Peaks: map[string]int64{"beta": int64(rapid.IntRange(1, 6).Draw(t, "peak")) << 29},
		}
	}
	if !s.calm && few(t, "disk") {
		w.Room.DiskLow = "little space is left"
	}
}

func drawInitiative(t *rapid.T, s shape, w *World, n int) {
	initiative := cw.Initiative{ID: cw.InitiativeID(fmt.Sprint("i", n)), Slug: fmt.Sprint("slug", n), Name: "an initiative"}
	initiative.Work.Provider = rapid.SampledFrom([]string{"", "alpha", "beta"}).Draw(t, "with")
	for _, name := range []string{"p0", "p1", "p2"} {
		if rapid.Bool().Draw(t, name) || s.calm && name == "p2" && len(initiative.Projects) == 0 {
			initiative.Projects = append(initiative.Projects, cw.InitiativeProject{ID: cw.ProjectID(name), Name: name})
		}
	}
	if !s.calm {
		initiative.Work.Hold = few(t, "held")
		if few(t, "budget") {
			w.OverBudget = append(w.OverBudget, initiative.ID)
		}
		if few(t, "trouble") {
			w.Troubles["p1"] = cw.Problem{Text: "nobody trusts it"}
		}
	}
	w.Initiatives = append(w.Initiatives, initiative)
	first, phases, least := len(w.Tasks), rapid.IntRange(1, 4).Draw(t, "phases"), 0
	if s.calm {
		least = 1 // a phase that never had tasks is not over by itself
	}
	for i := range phases {
		ph := cw.Phase{ID: cw.PhaseID(fmt.Sprintf("%s.%d", initiative.ID, i)), InitiativeID: initiative.ID, Name: "a phase", Status: cw.PhaseApproved}
		if !s.calm && few(t, "phase status") {
			ph.Status = rapid.SampledFrom([]cw.PhaseStatus{cw.PhaseDraft, cw.PhaseRunning, cw.PhaseDone, cw.PhaseArchived}).Draw(t, "which status")
		}
		for j := range phases {
			if (j < i || s.circles && few(t, "backwards")) && rapid.IntRange(0, 2).Draw(t, "after") == 2 {
				ph.DependsOn = append(ph.DependsOn, cw.PhaseID(fmt.Sprintf("%s.%d", initiative.ID, j)))
			}
		}
		w.Phases = append(w.Phases, ph)
		tasks := rapid.IntRange(least, 5).Draw(t, "tasks")
		for range tasks {
			drawTask(t, s, w, ph, first)
		}
		if tasks == 0 && rapid.Bool().Draw(t, "all cancelled") {
			w.Dropped = append(w.Dropped, ph.ID)
		}
	}
}

func drawTask(t *rapid.T, s shape, w *World, ph cw.Phase, first int) {
	n := len(w.Tasks)
	task := cw.Task{
		ID: cw.TaskID(fmt.Sprint("t", n)), InitiativeID: ph.InitiativeID, PhaseID: ph.ID, Name: fmt.Sprint("task ", n), Type: cw.TaskAuto, Size: cw.SizeSmall,
		Priority: rapid.SampledFrom(cw.TaskPriorities()).Draw(t, "priority"), Position: n, Status: cw.TaskPending,
		CreatedAt: noon.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "age")) * time.Minute),
		Paths:     rapid.SliceOfN(rapid.SampledFrom([]string{"a/**", "a/b", "b", "b/*.go", "c/x.go", "**/x.go", "{a,c}/**", "d", "e", "f"}), 0, 2).Draw(t, "paths"),
	}
	if few(t, "checkpoint") {
		task.Type = rapid.SampledFrom(cw.TaskTypes()).Draw(t, "type")
	}
	for j := first; j < n; j++ {
		if rapid.IntRange(0, 7).Draw(t, "needs") < 7 {
			continue
		}
		if other := &w.Tasks[j]; s.circles && few(t, "needed by") {
			other.DependsOn = append(other.DependsOn, task.ID)
		} else {
			task.DependsOn = append(task.DependsOn, other.ID)
		}
	}
	if !s.calm {
		switch rapid.IntRange(0, 5).Draw(t, "moved on") {
		case 4:
			task.Status = rapid.SampledFrom(cw.TaskStatuses()[:8]).Draw(t, "status")
		case 5:
			task.Status = cw.TaskDone
		}
		if few(t, "retry") {
			task.RetryAt = in(time.Duration(rapid.IntRange(-1, 1).Draw(t, "at")) * time.Minute)
		}
	}
	w.Tasks = append(w.Tasks, task)
}

// drawAgents gives what is worked on an agent, and adds some of people's own.
func drawAgents(t *rapid.T, w *World) {
	statuses := []cw.AgentStatus{cw.StatusRunning, cw.StatusRunning, cw.StatusStarting, cw.StatusIdle, cw.StatusWaitingForInput, cw.StatusParked}
	for i := range w.Tasks {
		if task := &w.Tasks[i]; working(task.Status) {
			giveAgent(w, task, rapid.SampledFrom(statuses).Draw(t, "agent"), "")
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "others") {
		w.Agents = append(w.Agents, cw.TaskAgent{
			ID: cw.AgentID(fmt.Sprint("other", i)), Status: cw.StatusRunning, Provider: "beta", AccountID: "beta0", ProjectIDs: []cw.ProjectID{"p0"},
			Removed: few(t, "removed"),
		})
	}
	for _, a := range w.Agents {
		if w.Room.FreeMemory > 0 && rapid.Bool().Draw(t, "seen") {
			if w.Room.Held == nil {
				w.Room.Held = map[cw.AgentID]int64{}
			}
			w.Room.Held[a.ID] = int64(rapid.IntRange(1, 7).Draw(t, "held")) << 28
		}
	}
}

// giveAgent gives a task a new agent.
func giveAgent(w *World, task *cw.Task, s cw.AgentStatus, account cw.AccountID) {
	initiative := initiativeOf(*w, task.InitiativeID)
	task.Starts++
	a := cw.TaskAgent{
		ID: cw.AgentID(fmt.Sprint("agent ", task.Starts, " of ", task.ID)), Alias: "brave-otter", Status: s, TaskID: task.ID,
		InitiativeID: initiative.ID, Provider: providerOf(*w, initiative).Name, AccountID: account,
	}
	for _, p := range initiative.Projects {
		a.ProjectIDs = append(a.ProjectIDs, p.ID)
	}
	task.AgentID = a.ID
	w.Agents = append(w.Agents, a)
}

// overlapping tells whether two tasks may touch the same file of one project.
func overlapping(w World, a, b cw.Task) bool {
	shared := slices.ContainsFunc(initiativeOf(w, a.InitiativeID).Projects, func(p cw.InitiativeProject) bool {
		return slices.Contains(initiativeOf(w, b.InitiativeID).Projects, p)
	})
	for _, x := range a.Paths {
		for _, y := range b.Paths {
			if shared && Overlap(x, y) {
				return true
			}
		}
	}
	return false
}
