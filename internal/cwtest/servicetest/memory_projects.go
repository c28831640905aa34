package servicetest

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
)

// AddProject implements cw.ProjectService: a repository is a folder with .git,
// and every remote can be reached.
func (m *Memory) AddProject(_ context.Context, req cw.ProjectRequest) (project cw.Project, err error) {
	if err := req.Check(); err != nil {
		return project, err
	}
	if req.URL != "" {
		return m.addRemote(req.URL)
	}
	path := req.Path
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
			GitDir: filepath.Join(path, ".git"), Stall: cw.StallEvent, Fallback: []string{}, CreatedAt: m.now(), UpdatedAt: m.now(),
		}
		m.projects = append(m.projects, project)
		m.tell(cw.NewEvent(cw.EventProjectAdded, cw.Actor{Kind: cw.ActorPerson}, cw.ProjectChanged{Name: project.Name, Path: path}))
	})
	return project, nil
}

func (m *Memory) addRemote(raw string) (project cw.Project, err error) {
	remote, err := cw.ParseRemote(raw)
	if err != nil {
		return project, err
	}
	m.change(func() {
		if p, findErr := m.findProject(remote); findErr == nil {
			project = p
			return
		}
		name := cw.RemoteName(remote)
		for _, err := m.findProject(name); err == nil; _, err = m.findProject(name) {
			name += "-2"
		}
		project = cw.Project{
			ID: cw.ProjectID(cw.NewID()), Name: name, RemoteURL: remote,
			GitDir: "/clones/" + name, Stall: cw.StallEvent, Fallback: []string{}, CreatedAt: m.now(), UpdatedAt: m.now(),
		}
		m.projects = append(m.projects, project)
		m.tell(cw.NewEvent(cw.EventProjectAdded, cw.Actor{Kind: cw.ActorPerson}, cw.ProjectChanged{Name: name, RemoteURL: remote}))
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
	i, err := m.placeOfProject(ref)
	if err != nil {
		return cw.Project{}, err
	}
	return m.projects[i], nil
}

func (m *Memory) placeOfProject(ref string) (int, error) {
	if remote, err := cw.ParseRemote(ref); err == nil {
		ref = remote
	}
	for i, p := range m.projects {
		if ref == string(p.ID) || ref == p.Name || ref == p.Where() {
			return i, nil
		}
	}
	return 0, cw.Errorf(cw.CodeNotFound, "there is no project %q", ref)
}

// Project implements cw.ProjectService.
func (m *Memory) Project(_ context.Context, ref string) (cw.Project, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.findProject(ref)
}

// SetProject implements cw.ProjectService.
func (m *Memory) SetProject(ctx context.Context, ref string, s cw.ProjectSettings) (project cw.Project, err error) {
	if err := s.Check(); err != nil {
		return project, err
	}
	m.change(func() {
		var i int
		if i, err = m.placeOfProject(ref); err != nil {
			return
		}
		p := &m.projects[i]
		if s.Stall != nil {
			p.Stall = *s.Stall
		}
		if s.AutoResume != nil {
			p.AutoResume = *s.AutoResume
		}
		if s.Fallback != nil {
			if err = knownProviders(*s.Fallback); err != nil {
				return
			}
			p.Fallback = *s.Fallback
		}
		if s.AgentSpawn != nil {
			p.AgentSpawn = *s.AgentSpawn
		}
		p.UpdatedAt = m.now()
		project = *p
		changed := cw.NewEvent(cw.EventProjectChanged, cw.ActorOf(ctx), cw.ProjectPolicies{Name: p.Name, Stall: p.Stall, AutoResume: p.AutoResume, Fallback: p.Fallback, AgentSpawn: p.AgentSpawn})
		changed.ProjectID = p.ID
		m.tell(changed)
	})
	return project, err
}

// RemoveProject implements cw.ProjectService.
func (m *Memory) RemoveProject(_ context.Context, ref string) (project cw.Project, err error) {
	m.change(func() {
		if project, err = m.findProject(ref); err != nil {
			return
		}
		for i := range m.agents {
			if a := &m.agents[i]; a.DeletedAt == nil && worksIn(a, project.ID) {
				err = cw.Errorf(cw.CodeRefused, "agent %s uses project %s", a.Alias, project.Name)
				project = cw.Project{}
				return
			}
		}
		m.projects = slices.DeleteFunc(m.projects, func(p cw.Project) bool { return p.ID == project.ID })
	})
	return project, err
}
