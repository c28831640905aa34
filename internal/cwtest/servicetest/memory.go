package servicetest

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cw/internal/cw"
	"cw/planning"
)

// Memory implements cw.Services in memory. Its agents are rows that do nothing
// by themselves: a test makes them write (Say), ask (SignalQuestions), end (Finish) and
// tell (Tell).
type Memory struct {
	// Identity answers Whoami for the actor of a request.
	Identity func(cw.Actor) cw.Whoami

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	projects []cw.Project
	files    map[string]string                           // the cw.yaml of repositories, by path
	trusts   map[cw.ProjectID]map[string]cw.ProjectTrust // by digest
	agents   []cw.AgentView                              // oldest first, without what view adds
	tokens   []cw.Token                                  // oldest first
	codes    []string                                    // of OpenDoor, not used yet
	accounts []memoryAccount                             // oldest first, without those that are removed
	budgets  []cw.Budget
	asked    []cw.QuestionView      // oldest first
	talks    []cw.ConversationView  // oldest first
	messages []cw.Message           // oldest first
	kept     map[cw.AgentID]cw.Plan // the newest of each agent
	lost     map[cw.AgentID]bool    // removed agents of which nothing is kept
	requests map[string]cw.AgentID
	chunks   []cw.Chunk
	events   []cw.Event // stored and live ones, in order
	lastSeq  int64
	keptFrom int64 // stored events below are forgotten
	clock    time.Time
	stopped  bool
	dispatch cw.DispatchState // nothing is ever started, whatever it says

	readers atomic.Int64

	*planning.Manager // over plans
	plans             *plans
}

var _ cw.Services = (*Memory)(nil)

// NewMemory makes an empty one.
func NewMemory() *Memory {
	m := &Memory{
		Identity: func(a cw.Actor) cw.Whoami { return cw.Whoami{Kind: a.Kind, AgentID: a.AgentID, RunID: a.RunID} },
		changed:  make(chan struct{}),
		files:    map[string]string{},
		trusts:   map[cw.ProjectID]map[string]cw.ProjectTrust{},
		requests: map[string]cw.AgentID{},
		kept:     map[cw.AgentID]cw.Plan{},
		lost:     map[cw.AgentID]bool{},
		keptFrom: 1,
		dispatch: cw.DispatchRunning,
		clock:    time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}
	m.plans = &plans{of: m}
	m.Manager = planning.New(m.plans)
	return m
}

// Readers is how many iterators run at this moment.
func (m *Memory) Readers() int { return int(m.readers.Load()) }

// ShutdownAsked tells whether Shutdown was called.
func (m *Memory) ShutdownAsked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stopped
}

// change runs f under the lock and wakes all iterators.
func (m *Memory) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *Memory) now() time.Time {
	m.clock = m.clock.Add(time.Millisecond)
	return m.clock
}

// tell appends an event; the lock is held.
func (m *Memory) tell(e cw.Event) {
	e.At = m.now()
	if e.Type.Stored() {
		m.lastSeq++
		e.Seq = m.lastSeq
	}
	m.events = append(m.events, e)
}

// Tell makes an event happen.
func (m *Memory) Tell(e cw.Event) { m.change(func() { m.tell(e) }) }

// Forget drops the stored events below seq, as retention does.
func (m *Memory) Forget(seq int64) {
	m.change(func() {
		m.keptFrom = seq
		m.events = slices.DeleteFunc(m.events, func(e cw.Event) bool { return e.Seq < seq })
	})
}

// Say lets an agent write one chunk in a session, after what it wrote there.
func (m *Memory) Say(ref string, session int, text string) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		c := cw.Chunk{
			ID: int64(len(m.chunks)) + 1, AgentID: a.ID, AgentName: a.Alias,
			SessionNumber: session, Bytes: []byte(text), CreatedAt: m.now(),
		}
		for _, before := range m.chunks {
			if before.AgentID == a.ID && before.SessionNumber == session {
				c.Offset = before.End()
			}
		}
		m.chunks = append(m.chunks, c)
		m.tell(cw.NewEvent(cw.EventAgentOutput, cw.Actor{Kind: cw.ActorCW}, cw.AgentOutput{
			AgentID: a.ID, SessionNumber: session, ChunkID: c.ID, Offset: c.Offset, Length: len(c.Bytes),
		}).About(a.ID, ""))
	})
}

// Finish ends an agent's run. One that is idle goes on at once with what was
// queued.
func (m *Memory) Finish(ref string, status cw.AgentStatus) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		m.setStatus(a, status)
		m.goOn(a)
	})
}

func (m *Memory) setStatus(a *cw.AgentView, status cw.AgentStatus) {
	a.Status, a.UpdatedAt = status, m.now()
	if status == cw.StatusCrashed || status == cw.StatusStopped {
		m.cancelTo(a, "is "+string(status))
	}
	m.tell(cw.NewEvent(cw.EventAgentStopped, cw.Actor{Kind: cw.ActorCW}, cw.AgentStopped{Name: a.Alias, Reason: cw.ReasonDone}).About(a.ID, ""))
}

// view gives an agent as people see it; the lock is held.
func (m *Memory) view(a *cw.AgentView) cw.AgentView {
	v := *a
	v.Projects, v.Runs, v.PendingQuestions = slices.Clone(a.Projects), slices.Clone(a.Runs), []cw.Question{}
	for _, q := range m.asked {
		if q.AgentID == a.ID && q.Status == cw.QuestionOpen {
			v.PendingQuestions = append(v.PendingQuestions, q.Question)
		}
		if q.AgentID == a.ID && q.Status == cw.QuestionAnswered && q.Source == cw.AskedByTool && q.FetchedAt == nil {
			v.QueuedAnswers++
		}
	}
	v.QueuedMessages = len(m.waiting(a))
	if plan, found := m.kept[a.ID]; found {
		summary := plan.Summary()
		v.Plan = &summary
	}
	return v
}

// find gives the agent; the lock is held.
func (m *Memory) find(ref string) (*cw.AgentView, error) {
	for i := range m.agents {
		if a := &m.agents[i]; string(a.ID) == ref || a.Alias == ref {
			return a, nil
		}
	}
	return nil, cw.Errorf(cw.CodeNotFound, "there is no agent %q", ref).WithHint("`cw agent list` shows all")
}

// Spawn implements cw.AgentService.
func (m *Memory) Spawn(ctx context.Context, req cw.SpawnRequest) (view cw.AgentView, err error) {
	m.change(func() { view, err = m.spawn(ctx, req) })
	return view, err
}

func (m *Memory) spawn(ctx context.Context, req cw.SpawnRequest) (cw.AgentView, error) {
	if id, ok := m.requests[req.RequestKey]; ok && req.RequestKey != "" {
		a, err := m.find(string(id))
		return m.view(a), err
	}
	if strings.TrimSpace(req.Goal) == "" {
		return cw.AgentView{}, cw.Errorf(cw.CodeInvalid, "the goal is empty").WithHint("say what is to be done")
	}
	if req.Name == "" {
		req.Name, _ = cw.NewAlias(func(alias string) (bool, error) { _, err := m.find(alias); return err == nil, nil })
	}
	if err := cw.ValidAlias(req.Name); err != nil {
		return cw.AgentView{}, err
	}
	if _, err := m.find(req.Name); err == nil {
		return cw.AgentView{}, cw.Errorf(cw.CodeRefused, "the name %s is taken; names are never used twice", req.Name).WithHint("choose another")
	}
	title, _, _ := strings.Cut(req.Goal, "\n")
	view := cw.AgentView{Agent: cw.Agent{
		ID: cw.AgentID(cw.NewID()), Alias: req.Name, Mode: cw.ModeExecute, Definition: string(cw.ModeExecute), Provider: "script", Title: title,
		Status: cw.StatusRunning, Warnings: []string{}, CreatedAt: m.now(), UpdatedAt: m.now(),
	}, Projects: []cw.AgentWorktree{}}
	for _, ref := range req.Projects {
		p, err := m.findProject(ref)
		if err != nil {
			return cw.AgentView{}, err
		}
		view.Projects = append(view.Projects, cw.AgentWorktree{
			ProjectID: p.ID, Project: p.Name, Branch: "agent/" + view.Alias, State: cw.WorktreePresent,
		})
	}
	m.agents = append(m.agents, view)
	m.requests[req.RequestKey] = view.ID
	a := &m.agents[len(m.agents)-1]
	m.addMessage(cw.Message{AgentID: a.ID, Origin: cw.OriginCW, Body: req.Goal})
	m.addRun(a, cw.RunSpawn)
	m.tell(cw.NewEvent(cw.EventAgentSpawned, cw.ActorOf(ctx), cw.AgentSpawned{Name: view.Alias, Mode: view.Mode}).About(view.ID, ""))
	return m.view(a), nil
}

// Agents implements cw.AgentService.
func (m *Memory) Agents(_ context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.AgentView]{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var project cw.Project
	if f.Project != "" {
		if project, err = m.findProject(f.Project); err != nil {
			return cw.Page[cw.AgentView]{}, err
		}
	}
	var caller *cw.AgentView
	if f.SeenBy != "" {
		if caller, err = m.find(string(f.SeenBy)); err != nil {
			return cw.Page[cw.AgentView]{}, err
		}
	}
	var initiative cw.Initiative
	if f.Initiative != "" {
		if initiative, err = m.plans.initiative(f.Initiative); err != nil {
			return cw.Page[cw.AgentView]{}, err
		}
	}
	var out []cw.AgentView
	for i := range m.agents {
		a := &m.agents[i]
		switch {
		case f.Removed != (a.DeletedAt != nil):
		case len(f.Statuses) > 0 && !slices.Contains(f.Statuses, a.Status):
		case f.Project != "" && !worksIn(a, project.ID):
		case f.Provider != "" && f.Provider != a.Provider:
		case f.Initiative != "" && a.InitiativeID != initiative.ID:
		case caller != nil && !m.sees(caller, a):
		default:
			out = append(out, m.view(a))
		}
	}
	return pageOf(start, out), nil
}

func worksIn(a *cw.AgentView, project cw.ProjectID) bool {
	return slices.ContainsFunc(a.Projects, func(w cw.AgentWorktree) bool { return w.ProjectID == project })
}

// Agent implements cw.AgentService.
func (m *Memory) Agent(_ context.Context, ref string) (cw.AgentView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	return m.view(a), nil
}

// Stop implements cw.AgentService.
func (m *Memory) Stop(_ context.Context, ref string, _ cw.StopRequest) (view cw.AgentView, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err != nil {
			return
		}
		if a.Status == cw.StatusWaitingForInput && a.DeletedAt == nil {
			m.withdraw(a, cw.WithdrawnStopped, cw.Actor{Kind: cw.ActorPerson})
		}
		if a.DeletedAt == nil && a.Status.CanBecome(cw.StatusStopped) {
			m.setStatus(a, cw.StatusStopped)
		}
		view = m.view(a)
	})
	return view, err
}

// Diff implements cw.AgentService.
func (m *Memory) Diff(_ context.Context, ref string, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	switch {
	case err != nil:
		return cw.Diff{}, err
	case len(a.Projects) == 0:
		return cw.Diff{}, cw.Errorf(cw.CodeRefused, "agent %s works in no project", a.Alias)
	case len(a.Projects) > 1 && req.Project == "":
		return cw.Diff{}, cw.Errorf(cw.CodeInvalid, "agent %s works in several projects", a.Alias).WithHint("name one with --project")
	}
	d := cw.Diff{
		Project: a.Projects[0].Project, Branch: a.Projects[0].Branch, Stat: cw.Stat{Files: 1, Additions: 2}, Files: []cw.FileChange{{Path: "x", Additions: 2}},
		Commits: []cw.Commit{{ID: "1f", Subject: "do it", Author: "A <a@b.c>", At: a.CreatedAt}}, Uncommitted: []string{},
	}
	if !req.Stat {
		d.Patch = "diff --git a/x b/x\n+ü < & >\n"
	}
	return d, nil
}

// Status implements cw.DaemonService.
func (m *Memory) Status(context.Context) (cw.DaemonStatus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := cw.DaemonStatus{
		PID: os.Getpid(), Version: "test", APIVersion: cw.APIVersion,
		StartedAt: m.clock.Truncate(time.Hour), Projects: len(m.projects),
	}
	for _, q := range m.asked {
		if q.Status == cw.QuestionOpen {
			st.Questions++
		}
	}
	for _, a := range m.agents {
		if a.DeletedAt == nil {
			st.Agents++
		}
		if a.Status.Alive() {
			st.AgentsAlive++
		}
	}
	return st, nil
}

// Shutdown implements cw.DaemonService; it only notes that it was asked.
func (m *Memory) Shutdown(ctx context.Context) (cw.DaemonStatus, error) {
	m.change(func() { m.stopped = true })
	return m.Status(ctx)
}

// Whoami implements cw.DaemonService.
func (m *Memory) Whoami(ctx context.Context) (cw.Whoami, error) {
	return m.Identity(cw.ActorOf(ctx)), nil
}
