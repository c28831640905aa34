package servicetest

import (
	"context"
	"fmt"
	"slices"

	"cw/internal/cw"
	"cw/planning"
)

// plans implements planning.Store in memory: the rows of a Memory, under its
// lock. What is decided about them is planning.Manager's business here, too.
type plans struct {
	of          *Memory
	initiatives []cw.Initiative // oldest first, as all others
	pages       []cw.Document
	phases      []cw.Phase
	tasks       []cw.Task
	proposals   []cw.Proposal
}

var _ planning.Store = (*plans)(nil)

// locked reads under the lock.
func locked[T any](m *Memory, f func() (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

// ProjectByRef implements planning.Store.
func (p *plans) ProjectByRef(ctx context.Context, ref string) (cw.Project, error) {
	return p.of.Project(ctx, ref)
}

// AgentByRef implements planning.Store.
func (p *plans) AgentByRef(ctx context.Context, ref string) (cw.Agent, error) {
	view, err := p.of.Agent(ctx, ref)
	return view.Agent, err
}

// AddInitiative implements planning.Store.
func (p *plans) AddInitiative(ctx context.Context, i cw.Initiative, root cw.Document) (cw.Initiative, error) {
	p.of.change(func() {
		slug := i.Slug
		for n := 2; slices.ContainsFunc(p.initiatives, func(other cw.Initiative) bool { return other.Slug == i.Slug }); n++ {
			i.Slug = fmt.Sprintf("%s-%d", slug, n)
		}
		i.CreatedAt, i.UpdatedAt = p.of.now(), p.of.now()
		p.initiatives = append(p.initiatives, i)
		p.pages = append(p.pages, root)
		by := cw.ActorOf(ctx)
		p.of.tell(cw.NewEvent(cw.EventInitiativeCreated, by, cw.InitiativeChanged{
			InitiativeID: i.ID, Name: i.Name, Slug: i.Slug, Status: i.Status,
		}).In(i.ID))
		p.of.tell(cw.NewEvent(cw.EventPageCreated, by, cw.PageChanged{PageID: root.ID, Title: root.Title, Revision: root.Revision}).In(i.ID))
	})
	return i, nil
}

// InitiativePage implements planning.Store.
func (p *plans) InitiativePage(_ context.Context, f cw.InitiativeFilter) (cw.Page[cw.Initiative], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.Initiative]{}, err
	}
	return locked(p.of, func() (cw.Page[cw.Initiative], error) {
		var some []cw.Initiative
		for _, i := range p.initiatives {
			if (i.Status == cw.InitiativeArchived) == f.Archived {
				i.Progress = p.progress(i.ID)
				some = append(some, i)
			}
		}
		return pageOf(start, some), nil
	})
}

func (p *plans) progress(id cw.InitiativeID) *cw.Progress {
	var out cw.Progress
	for _, t := range p.tasks {
		if t.InitiativeID != id || t.Status == cw.TaskCancelled {
			continue
		}
		out.Tasks++
		if t.Status == cw.TaskDone {
			out.Done++
		}
	}
	return &out
}

// InitiativeByRef implements planning.Store.
func (p *plans) InitiativeByRef(_ context.Context, ref string) (cw.Initiative, error) {
	return locked(p.of, func() (cw.Initiative, error) { return p.initiative(ref) })
}

func (p *plans) initiative(ref string) (cw.Initiative, error) {
	var slugs []string
	for _, i := range p.initiatives {
		if string(i.ID) == ref || i.Slug == ref {
			return i, nil
		}
		slugs = append(slugs, i.Slug)
	}
	missing := cw.Errorf(cw.CodeNotFound, "there is no initiative %.100q", ref)
	if slug, ok := cw.Nearest(ref, slugs); ok {
		return cw.Initiative{}, missing.WithHint("did you mean %s?", slug)
	}
	return cw.Initiative{}, missing.WithHint("all initiatives: cw initiative list")
}

// InitiativeState implements planning.Store.
func (p *plans) InitiativeState(_ context.Context, id cw.InitiativeID) (cw.InitiativeState, error) {
	return locked(p.of, func() (cw.InitiativeState, error) { return p.state(id) })
}

func (p *plans) state(id cw.InitiativeID) (cw.InitiativeState, error) {
	i, err := p.initiative(string(id))
	if err != nil {
		return cw.InitiativeState{}, err
	}
	s := cw.InitiativeState{Initiative: i, Working: []string{}}
	s.Pages = p.tree(i)
	s.Phases = only(p.phases, func(ph cw.Phase) bool { return ph.InitiativeID == id })
	slices.SortStableFunc(s.Phases, func(a, b cw.Phase) int { return a.Position - b.Position })
	tasks := slices.Clone(p.tasks)
	slices.SortStableFunc(tasks, func(a, b cw.Task) int { return a.Position - b.Position })
	for _, ph := range s.Phases {
		s.Tasks = append(s.Tasks, only(tasks, func(t cw.Task) bool { return t.PhaseID == ph.ID })...)
	}
	s.Proposals = only(p.proposals, func(pr cw.Proposal) bool {
		return pr.InitiativeID == id && (pr.Status == cw.ProposalOpen || pr.Status == cw.ProposalDismissed)
	})
	for i := range p.of.agents {
		if a := &p.of.agents[i]; a.InitiativeID == id && a.DeletedAt == nil && !a.Status.AtRest() {
			s.Working = append(s.Working, a.Alias)
		}
	}
	return s, nil
}

// tree gives the pages of an initiative in the order of their tree.
func (p *plans) tree(i cw.Initiative) []cw.Document {
	pages := only(p.pages, func(d cw.Document) bool { return d.InitiativeID == i.ID && d.DeletedAt == nil })
	slices.SortStableFunc(pages, func(a, b cw.Document) int { return a.Position - b.Position })
	var out []cw.Document
	var walk func(parent cw.PageID)
	walk = func(parent cw.PageID) {
		for _, d := range pages {
			if d.ParentID == parent {
				out = append(out, d)
				walk(d.ID)
			}
		}
	}
	walk("")
	return out
}

func only[T any](all []T, is func(T) bool) []T {
	out := []T{}
	for _, v := range all {
		if is(v) {
			out = append(out, v)
		}
	}
	return out
}

// ChangeInitiative implements planning.Store.
func (p *plans) ChangeInitiative(_ context.Context, id cw.InitiativeID, decide func(cw.InitiativeState) (cw.InitiativeChange, error)) (err error) {
	p.of.change(func() {
		var s cw.InitiativeState
		if s, err = p.state(id); err != nil {
			return
		}
		var c cw.InitiativeChange
		if c, err = decide(s); err != nil {
			return
		}
		if c.Initiative != nil {
			c.Initiative.UpdatedAt = p.of.now()
			put(&p.initiatives, []cw.Initiative{*c.Initiative}, func(i cw.Initiative) cw.InitiativeID { return i.ID })
		}
		put(&p.pages, c.Pages, func(d cw.Document) cw.PageID { return d.ID })
		put(&p.phases, c.Phases, func(ph cw.Phase) cw.PhaseID { return ph.ID })
		put(&p.tasks, c.Tasks, func(t cw.Task) cw.TaskID { return t.ID })
		put(&p.proposals, c.Proposals, func(pr cw.Proposal) cw.ProposalID { return pr.ID })
		for _, e := range c.Events {
			p.of.tell(e.In(id))
		}
	})
	return err
}

// put makes or replaces rows by their id.
func put[T any, ID comparable](rows *[]T, changed []T, idOf func(T) ID) {
	for _, c := range changed {
		at := slices.IndexFunc(*rows, func(r T) bool { return idOf(r) == idOf(c) })
		if at < 0 {
			*rows = append(*rows, c)
			continue
		}
		(*rows)[at] = c
	}
}

// DocumentByID implements planning.Store.
func (p *plans) DocumentByID(_ context.Context, id cw.PageID) (cw.Document, error) {
	return byID(p.of, &p.pages, "page", id, func(d cw.Document) bool { return d.ID == id && d.DeletedAt == nil })
}

// PhaseByID implements planning.Store.
func (p *plans) PhaseByID(_ context.Context, id cw.PhaseID) (cw.Phase, error) {
	return byID(p.of, &p.phases, "phase", id, func(ph cw.Phase) bool { return ph.ID == id })
}

// TaskByID implements planning.Store.
func (p *plans) TaskByID(_ context.Context, id cw.TaskID) (cw.Task, error) {
	return byID(p.of, &p.tasks, "task", id, func(t cw.Task) bool { return t.ID == id })
}

// ProposalByID implements planning.Store.
func (p *plans) ProposalByID(_ context.Context, id cw.ProposalID) (cw.Proposal, error) {
	return byID(p.of, &p.proposals, "proposal", id, func(pr cw.Proposal) bool { return pr.ID == id })
}

func byID[T any, ID ~string](m *Memory, rows *[]T, noun string, id ID, is func(T) bool) (T, error) {
	return locked(m, func() (T, error) {
		if at := slices.IndexFunc(*rows, is); at >= 0 {
			return (*rows)[at], nil
		}
		var none T
		return none, cw.Errorf(cw.CodeNotFound, "there is no %s %.100q", noun, string(id)).WithHint("see: cw initiative show INITIATIVE")
	})
}

// ProposalPage implements planning.Store.
func (p *plans) ProposalPage(ctx context.Context, f cw.ProposalFilter) (cw.Page[cw.Proposal], error) {
	start, err := f.Start()
	if err != nil {
		return cw.Page[cw.Proposal]{}, err
	}
	var initiative cw.Initiative
	if f.Initiative != "" {
		if initiative, err = p.InitiativeByRef(ctx, f.Initiative); err != nil {
			return cw.Page[cw.Proposal]{}, err
		}
	}
	var agent cw.Agent
	if f.Agent != "" {
		if agent, err = p.AgentByRef(ctx, f.Agent); err != nil {
			return cw.Page[cw.Proposal]{}, err
		}
	}
	return locked(p.of, func() (cw.Page[cw.Proposal], error) {
		return pageOf(start, only(p.proposals, func(pr cw.Proposal) bool {
			return (f.Initiative == "" || pr.InitiativeID == initiative.ID) && (f.Agent == "" || pr.AgentID == agent.ID) &&
				(len(f.Statuses) == 0 || slices.Contains(f.Statuses, pr.Status))
		})), nil
	})
}

// Assign makes an agent one of an initiative.
func (m *Memory) Assign(ref string, id cw.InitiativeID) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		a.InitiativeID = id
	})
}

// Suggest makes open proposals of an agent's for its initiative.
func (m *Memory) Suggest(ref string, proposals ...cw.Proposal) {
	m.change(func() {
		a, err := m.find(ref)
		if err != nil {
			panic(err)
		}
		for _, p := range proposals {
			p.AgentID, p.InitiativeID, p.Status, p.CreatedAt = a.ID, a.InitiativeID, cw.ProposalOpen, m.now()
			m.plans.proposals = append(m.plans.proposals, p)
			m.tell(cw.NewEvent(cw.EventProposalCreated, cw.Actor{Kind: cw.ActorAgent, ID: string(a.ID), AgentID: a.ID}, cw.ProposalChanged{
				ProposalID: p.ID, Target: p.Target, TargetID: p.TargetID, Action: p.Action, Title: p.Title,
			}).In(a.InitiativeID).About(a.ID, p.RunID))
		}
	})
}
