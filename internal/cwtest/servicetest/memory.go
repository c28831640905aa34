package servicetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cw/internal/cw"
)

// Memory implements cw.Services in memory. Its agents are rows that do nothing
// by themselves: a test makes them write (Say), end (Finish) and tell (Tell).
type Memory struct {
	// Identity answers Whoami for the actor of a request.
	Identity func(cw.Actor) cw.Whoami

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	projects []cw.Project
	agents   []cw.AgentView // oldest first
	tokens   []cw.Token     // oldest first
	requests map[string]cw.AgentID
	chunks   []cw.Chunk
	events   []cw.Event // stored and live ones, in order
	lastSeq  int64
	keptFrom int64 // stored events below are forgotten
	clock    time.Time
	stopped  bool

	readers atomic.Int64
}

var _ cw.Services = (*Memory)(nil)

// NewMemory makes an empty one.
func NewMemory() *Memory {
	return &Memory{
		Identity: func(a cw.Actor) cw.Whoami { return cw.Whoami{Kind: a.Kind, AgentID: a.AgentID, RunID: a.RunID} },
		changed:  make(chan struct{}),
		requests: map[string]cw.AgentID{},
		keptFrom: 1,
		clock:    time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}
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

// Finish sets an agent's status.
func (m *Memory) Finish(ref string, status cw.AgentStatus) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		m.setStatus(a, status)
	})
}

func (m *Memory) setStatus(a *cw.AgentView, status cw.AgentStatus) {
	a.Status, a.UpdatedAt = status, m.now()
	m.tell(cw.NewEvent(cw.EventAgentStopped, cw.Actor{Kind: cw.ActorCW}, cw.AgentStopped{Name: a.Alias, Reason: cw.ReasonDone}).About(a.ID, ""))
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
		return *a, err
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
	title, _, _ := strings.Cut(req.Goal, "\n")
	view := cw.AgentView{Agent: cw.Agent{
		ID: cw.AgentID(cw.NewID()), Alias: req.Name, Mode: cw.ModeExecute, Provider: "script", Title: title,
		Status: cw.StatusRunning, Warnings: []string{}, SessionNumber: 1, CreatedAt: m.now(), UpdatedAt: m.now(),
	}, Projects: []cw.AgentWorktree{}, PendingQuestions: []cw.Question{}, Runs: []cw.Run{}}
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
	m.tell(cw.NewEvent(cw.EventAgentSpawned, cw.ActorOf(ctx), cw.AgentSpawned{Name: view.Alias, Mode: view.Mode}).About(view.ID, ""))
	return view, nil
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
	var out []cw.AgentView
	for _, a := range m.agents {
		inProject := slices.ContainsFunc(a.Projects, func(w cw.AgentWorktree) bool { return w.ProjectID == project.ID })
		switch {
		case len(f.Statuses) > 0 && !slices.Contains(f.Statuses, a.Status):
		case f.Project != "" && !inProject:
		case f.Provider != "" && f.Provider != a.Provider:
		case f.Initiative != "" && f.Initiative != a.InitiativeID:
		case f.Only != "" && f.Only != a.ID:
		default:
			out = append(out, a)
		}
	}
	return pageOf(start, out), nil
}

// Agent implements cw.AgentService.
func (m *Memory) Agent(_ context.Context, ref string) (cw.AgentView, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.find(ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	return *a, nil
}

// Stop implements cw.AgentService.
func (m *Memory) Stop(_ context.Context, ref string, _ cw.StopRequest) (view cw.AgentView, err error) {
	m.change(func() {
		var a *cw.AgentView
		if a, err = m.find(ref); err != nil {
			return
		}
		if a.Status.Alive() {
			m.setStatus(a, cw.StatusStopped)
		}
		view = *a
	})
	return view, err
}

// Diff implements cw.AgentService.
func (m *Memory) Diff(_ context.Context, ref string, req cw.DiffRequest) (cw.Diff, error) {
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
		Project: a.Projects[0].Project, Branch: a.Projects[0].Branch, Stat: cw.Stat{Files: 1, Additions: 2},
		Commits: []cw.Commit{{ID: "1f", Subject: "do it", Author: "A <a@b.c>", At: a.CreatedAt}}, Uncommitted: []string{},
	}
	if !req.Stat {
		d.Patch = "diff --git a/x b/x\n+ü < & >\n"
	}
	return d, nil
}

// AddProject implements cw.ProjectService: a repository is a folder with .git.
func (m *Memory) AddProject(_ context.Context, path string) (project cw.Project, err error) {
	if _, statErr := os.Stat(filepath.Join(path, ".git")); statErr != nil || !filepath.IsAbs(path) {
		return project, cw.Errorf(cw.CodeInvalid, "%q is no git repository", path).WithHint("make one with `git init`").Because(statErr)
	}
	m.change(func() {
		if p, findErr := m.findProject(path); findErr == nil {
			project = p
			return
		}
		project = cw.Project{
			ID: cw.ProjectID(cw.NewID()), Name: filepath.Base(path), Path: path,
			GitDir: filepath.Join(path, ".git"), CreatedAt: m.now(), UpdatedAt: m.now(),
		}
		m.projects = append(m.projects, project)
		m.tell(cw.NewEvent(cw.EventProjectAdded, cw.Actor{Kind: cw.ActorPerson}, cw.ProjectChanged{Name: project.Name, Path: path}))
	})
	return project, nil
}

// Projects implements cw.ProjectService.
func (m *Memory) Projects(_ context.Context, q cw.PageQuery) (cw.Page[cw.Project], error) {
	start, err := cw.ProjectList().Start(q)
	if err != nil {
		return cw.Page[cw.Project]{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return pageOf(start, m.projects), nil
}

func (m *Memory) findProject(ref string) (cw.Project, error) {
	for _, p := range m.projects {
		if ref == string(p.ID) || ref == p.Name || ref == p.Path {
			return p, nil
		}
	}
	return cw.Project{}, cw.Errorf(cw.CodeNotFound, "there is no project %q", ref)
}

// Project implements cw.ProjectService.
func (m *Memory) Project(_ context.Context, ref string) (cw.Project, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.findProject(ref)
}

// RemoveProject implements cw.ProjectService.
func (m *Memory) RemoveProject(_ context.Context, ref string) (project cw.Project, err error) {
	m.change(func() {
		if project, err = m.findProject(ref); err != nil {
			return
		}
		for _, a := range m.agents {
			if slices.ContainsFunc(a.Projects, func(w cw.AgentWorktree) bool { return w.ProjectID == project.ID }) {
				err = cw.Errorf(cw.CodeRefused, "agent %s uses project %s", a.Alias, project.Name)
				project = cw.Project{}
				return
			}
		}
		m.projects = slices.DeleteFunc(m.projects, func(p cw.Project) bool { return p.ID == project.ID })
	})
	return project, err
}

// Status implements cw.DaemonService.
func (m *Memory) Status(context.Context) (cw.DaemonStatus, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cw.DaemonStatus{
		PID: os.Getpid(), Version: "test", APIVersion: cw.APIVersion,
		StartedAt: m.clock.Truncate(time.Hour), Agents: len(m.agents), Projects: len(m.projects),
	}, nil
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
