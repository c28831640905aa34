package planning

import (
	"reflect"
	"slices"
	"time"

	"cw/internal/cw"
)

// last is a position behind all others, until places are numbered anew.
const last = 1 << 30

// plan is an initiative in the making: rules change its rows as they like, and
// settle checks what became of it and tells the difference. Rows of the state it
// began with are never changed.
type plan struct {
	cw.InitiativeState // as it becomes

	before cw.InitiativeState
	actor  cw.Actor
	at     time.Time
	moved  map[string]bool // ids of what was given another place
}

func begin(s cw.InitiativeState, actor cw.Actor, at time.Time) *plan {
	p := &plan{before: s, InitiativeState: s, actor: actor, at: at, moved: map[string]bool{}}
	p.Pages = slices.Clone(s.Pages)
	p.Phases = slices.Clone(s.Phases)
	p.Tasks = slices.Clone(s.Tasks)
	p.Proposals = slices.Clone(s.Proposals)
	return p
}

// page finds a page; nil for none. So do phase, task and proposal.
func (p *plan) page(id cw.PageID) *cw.Document {
	return find(p.Pages, func(d cw.Document) bool { return d.ID == id })
}

func (p *plan) phase(id cw.PhaseID) *cw.Phase {
	return find(p.Phases, func(ph cw.Phase) bool { return ph.ID == id })
}

func (p *plan) task(id cw.TaskID) *cw.Task {
	return find(p.Tasks, func(t cw.Task) bool { return t.ID == id })
}

func (p *plan) proposal(id cw.ProposalID) *cw.Proposal {
	return find(p.Proposals, func(pr cw.Proposal) bool { return pr.ID == id })
}

func find[T any](rows []T, is func(T) bool) *T {
	if i := slices.IndexFunc(rows, is); i >= 0 {
		return &rows[i]
	}
	return nil
}

// settle numbers places, checks everything that changed, and tells it.
func (p *plan) settle() (cw.InitiativeChange, error) {
	p.number()
	if err := p.check(); err != nil {
		return cw.InitiativeChange{}, err
	}
	return p.difference(), nil
}

// difference lists the rows that are new or differ, stamped, with their events.
func (p *plan) difference() cw.InitiativeChange {
	var c cw.InitiativeChange
	if !reflect.DeepEqual(p.before.Initiative, p.Initiative) {
		p.Initiative.UpdatedAt = p.at
		changed := p.Initiative
		c.Initiative = &changed
		c.Events = append(c.Events, p.event(cw.EventInitiativeChanged, cw.InitiativeChanged{
			InitiativeID: changed.ID, Name: changed.Name, Slug: changed.Slug, Status: changed.Status,
		}))
	}
	p.pagesChanged(&c)
	p.phasesChanged(&c)
	p.tasksChanged(&c)
	p.proposalsChanged(&c)
	return c
}

func (p *plan) pagesChanged(c *cw.InitiativeChange) {
	for _, s := range steps(p, p.before.Pages, p.Pages, pageKind()) {
		was, now, t := s.was, s.now, cw.EventPageChanged
		now.UpdatedAt = p.at
		switch {
		case was == nil:
			now.Revision, now.CreatedAt, t = 1, p.at, cw.EventPageCreated
		case now.DeletedAt != nil:
			t = cw.EventPageRemoved
		case was.Title != now.Title || was.Body != now.Body:
			now.Revision = was.Revision + 1
		}
		c.Pages = append(c.Pages, *now)
		if !s.quiet {
			c.Events = append(c.Events, p.event(t, cw.PageChanged{PageID: now.ID, ParentID: now.ParentID, Title: now.Title, Revision: now.Revision}))
		}
	}
}

func (p *plan) phasesChanged(c *cw.InitiativeChange) {
	for _, s := range steps(p, p.before.Phases, p.Phases, phaseKind()) {
		now, t := s.now, cw.EventPhaseChanged
		now.UpdatedAt = p.at
		if s.was == nil {
			now.CreatedAt, t = p.at, cw.EventPhaseCreated
		}
		c.Phases = append(c.Phases, *now)
		if !s.quiet {
			c.Events = append(c.Events, p.event(t, cw.PhaseChanged{PhaseID: now.ID, Name: now.Name, Status: now.Status}))
		}
	}
}

func (p *plan) tasksChanged(c *cw.InitiativeChange) {
	for _, s := range steps(p, p.before.Tasks, p.Tasks, taskKind()) {
		now, t := s.now, cw.EventTaskChanged
		now.UpdatedAt = p.at
		if s.was == nil {
			now.CreatedAt, t = p.at, cw.EventTaskCreated
		}
		c.Tasks = append(c.Tasks, *now)
		if !s.quiet {
			e := p.event(t, cw.TaskChanged{TaskID: now.ID, PhaseID: now.PhaseID, Name: now.Name, Status: now.Status})
			e.TaskID = now.ID
			c.Events = append(c.Events, e)
		}
	}
}

func (p *plan) proposalsChanged(c *cw.InitiativeChange) {
	events := map[cw.ProposalStatus]cw.EventType{
		cw.ProposalAccepted: cw.EventProposalAccepted, cw.ProposalDismissed: cw.EventProposalDismissed,
	}
	for i, now := range p.Proposals {
		if now.Status == p.before.Proposals[i].Status {
			continue // nothing else of a proposal changes, and none is made here
		}
		c.Proposals = append(c.Proposals, now)
		c.Events = append(c.Events, p.event(events[now.Status], cw.ProposalChanged{
			ProposalID: now.ID, Target: now.Target, TargetID: now.TargetID, Action: now.Action, Title: now.Title, Note: now.Note,
		}).About(now.AgentID, now.RunID))
	}
}

func (p *plan) event(t cw.EventType, payload any) cw.Event {
	return cw.NewEvent(t, p.actor, payload).In(p.Initiative.ID)
}

// kind is what rows of pages, phases and tasks have in common.
type kind[T any] struct {
	id    func(*T) string
	place func(*T) *int
	// among names the rows that are numbered together; "" for a row that has no
	// place. Rows that are over come behind the others.
	among func(*T) string
	over  func(*T) bool
}

func pageKind() kind[cw.Document] {
	return kind[cw.Document]{
		id:    func(d *cw.Document) string { return string(d.ID) },
		place: func(d *cw.Document) *int { return &d.Position },
		among: func(d *cw.Document) string { return "below " + string(d.ParentID) },
		over:  func(d *cw.Document) bool { return d.DeletedAt != nil },
	}
}

func phaseKind() kind[cw.Phase] {
	return kind[cw.Phase]{
		id:    func(p *cw.Phase) string { return string(p.ID) },
		place: func(p *cw.Phase) *int { return &p.Position },
		among: func(*cw.Phase) string { return "phases" },
		over:  func(p *cw.Phase) bool { return p.Status == cw.PhaseArchived },
	}
}

func taskKind() kind[cw.Task] {
	return kind[cw.Task]{
		id:    func(t *cw.Task) string { return string(t.ID) },
		place: func(t *cw.Task) *int { return &t.Position },
		among: func(t *cw.Task) string { return "of " + string(t.PhaseID) },
		over:  func(t *cw.Task) bool { return t.Status == cw.TaskCancelled },
	}
}

// step is one row that is new or differs.
type step[T any] struct {
	was   *T // nil: it is new
	now   *T
	quiet bool // only its number changed, because others came or went
}

func steps[T any](p *plan, before, after []T, k kind[T]) []step[T] {
	had := make(map[string]*T, len(before))
	for i := range before {
		had[k.id(&before[i])] = &before[i]
	}
	var out []step[T]
	for i := range after {
		now := &after[i]
		was := had[k.id(now)]
		if was != nil && reflect.DeepEqual(*was, *now) {
			continue
		}
		s := step[T]{was: was, now: now}
		if was != nil && !p.moved[k.id(now)] {
			elsewhere := *now
			*k.place(&elsewhere) = *k.place(was)
			s.quiet = reflect.DeepEqual(*was, elsewhere)
		}
		out = append(out, s)
	}
	return out
}
