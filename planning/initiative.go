package planning

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"cw/internal/cw"
)

// CreateInitiative implements cw.InitiativeService.
func (m *Manager) CreateInitiative(ctx context.Context, req cw.CreateInitiativeRequest) (cw.Initiative, error) {
	name := strings.TrimSpace(req.Name)
	goal := cmp.Or(req.Goal, name)
	if err := checkText("initiative", name, goal); err != nil {
		return cw.Initiative{}, err
	}
	projects, err := m.projects(ctx, req.Projects)
	if err != nil {
		return cw.Initiative{}, err
	}
	now, by := m.now(), nameOf(cw.ActorOf(ctx))
	i := cw.Initiative{
		ID: cw.InitiativeID(cw.NewID()), Name: name, Slug: cw.Slug(name), Goal: goal, Status: cw.InitiativeActive,
		RootPageID: cw.PageID(cw.NewID()), Projects: projects, Work: cw.WorkSettings{Hold: !req.Start}, CreatedBy: by, CreatedAt: now, UpdatedAt: now,
	}
	root := cw.Document{
		ID: i.RootPageID, InitiativeID: i.ID, Title: name, Body: goal, Revision: 1, UpdatedBy: by, CreatedAt: now, UpdatedAt: now,
	}
	return m.store.AddInitiative(ctx, i, root)
}

// Initiatives implements cw.InitiativeService.
func (m *Manager) Initiatives(ctx context.Context, f cw.InitiativeFilter) (cw.Page[cw.Initiative], error) {
	return m.store.InitiativePage(ctx, f)
}

// Initiative implements cw.InitiativeService.
func (m *Manager) Initiative(ctx context.Context, ref string) (cw.InitiativeView, error) {
	s, err := m.state(ctx, ref)
	if err != nil {
		return cw.InitiativeView{}, err
	}
	return viewOf(s), nil
}

// viewOf is an initiative as people see it: without what is over, and without
// the texts of what belongs to it.
func viewOf(s cw.InitiativeState) cw.InitiativeView {
	v := cw.InitiativeView{Initiative: s.Initiative, Branch: s.Initiative.Branch(), Pages: withoutTexts(s.Pages, withoutPageText)}
	v.Projects = orEmpty(v.Projects)
	v.Phases = slices.DeleteFunc(withoutTexts(s.Phases, withoutPhaseText), func(ph cw.Phase) bool { return ph.Status == cw.PhaseArchived })
	v.Tasks = slices.DeleteFunc(withoutTexts(s.Tasks, withoutTaskText), func(t cw.Task) bool { return t.Status == cw.TaskCancelled })
	for _, p := range s.Proposals {
		if p.Status == cw.ProposalOpen {
			v.OpenProposals++
		}
	}
	return v
}

// EditInitiative implements cw.InitiativeService.
func (m *Manager) EditInitiative(ctx context.Context, ref string, e cw.InitiativeEdit) (cw.Initiative, error) {
	i, err := m.store.InitiativeByRef(ctx, ref)
	if err != nil {
		return cw.Initiative{}, err
	}
	var projects []cw.InitiativeProject
	if e.Projects != nil {
		if projects, err = m.projects(ctx, *e.Projects); err != nil {
			return cw.Initiative{}, err
		}
	}
	if _, err := m.changeAny(ctx, i.ID, func(p *plan) error { return p.editInitiative(e, projects) }); err != nil {
		return cw.Initiative{}, err
	}
	return m.store.InitiativeByRef(ctx, string(i.ID))
}

func (p *plan) editInitiative(e cw.InitiativeEdit, projects []cw.InitiativeProject) error {
	if e.Archived == nil || *e.Archived {
		if err := p.refuseArchived(); err != nil && !onlyArchives(e) {
			return err
		}
	}
	i := &p.Initiative
	set(&i.Name, e.Name)
	i.Name = strings.TrimSpace(i.Name)
	set(&i.Goal, e.Goal)
	if e.Work != nil {
		set(&i.Work.Provider, e.Work.Provider)
		set(&i.Work.Model, e.Work.Model)
		set(&i.Work.Script, e.Work.Script)
		set(&i.Work.Hold, e.Work.Hold)
	}
	if e.Projects != nil {
		i.Projects = projects
	}
	if e.Archived == nil {
		return nil
	}
	if !*e.Archived {
		i.Status = cw.InitiativeActive
		return nil
	}
	if i.Status == cw.InitiativeActive && len(p.Working) > 0 {
		return cw.Errorf(cw.CodeRefused, "agents of the initiative %s have work under way: %s", i.Slug, strings.Join(p.Working, ", ")).
			WithHint("stop them first: cw agent stop NAME")
	}
	i.Status = cw.InitiativeArchived
	return nil
}

// onlyArchives tells whether an edit says nothing but that it is archived,
// which it may be already.
func onlyArchives(e cw.InitiativeEdit) bool {
	return e.Archived != nil && e.Name == nil && e.Goal == nil && e.Projects == nil && e.Work == nil
}

// refuseArchived refuses every change of an archived initiative.
func (p *plan) refuseArchived() error {
	if p.Initiative.Status != cw.InitiativeArchived {
		return nil
	}
	return cw.Errorf(cw.CodeRefused, "the initiative %s is archived: nothing in it changes any more", p.Initiative.Slug).
		WithHint("take it out of the archive first: cw initiative archive %s --undo", p.Initiative.Slug)
}

// projects finds the projects of an initiative, each once.
func (m *Manager) projects(ctx context.Context, refs []string) ([]cw.InitiativeProject, error) {
	if len(refs) > cw.InitiativeProjects {
		return nil, cw.Errorf(cw.CodeInvalid, "%d projects are named, an initiative spans at most %d", len(refs), cw.InitiativeProjects).
			WithHint("make another initiative for the rest")
	}
	out := make([]cw.InitiativeProject, 0, len(refs))
	for _, ref := range refs {
		p, err := m.store.ProjectByRef(ctx, ref)
		if err != nil {
			return nil, err
		}
		out = append(out, cw.InitiativeProject{ID: p.ID, Name: p.Name})
	}
	return once(out), nil
}
