package planning

import (
	"context"
	"slices"
	"strings"

	"cw/internal/cw"
)

// CreatePhase implements cw.PhaseService.
func (m *Manager) CreatePhase(ctx context.Context, req cw.CreatePhaseRequest) (cw.Phase, error) {
	i, err := m.store.InitiativeByRef(ctx, req.Initiative)
	if err != nil {
		return cw.Phase{}, err
	}
	phase := cw.Phase{
		ID: cw.PhaseID(cw.NewID()), Name: strings.TrimSpace(req.Name), Body: req.Body, DependsOn: once(req.DependsOn),
	}
	_, err = m.change(ctx, i.ID, func(p *plan) error {
		p.addPhase(phase, last)
		return nil
	})
	if err != nil {
		return cw.Phase{}, err
	}
	return m.store.PhaseByID(ctx, phase.ID)
}

// Phases implements cw.PhaseService.
func (m *Manager) Phases(ctx context.Context, initiative string) ([]cw.Phase, error) {
	s, err := m.state(ctx, initiative)
	if err != nil {
		return nil, err
	}
	return withoutTexts(s.Phases, withoutPhaseText), nil
}

// Phase implements cw.PhaseService.
func (m *Manager) Phase(ctx context.Context, id cw.PhaseID) (cw.Phase, error) {
	return m.store.PhaseByID(ctx, id)
}

// EditPhase implements cw.PhaseService. Archiving a phase cancels its tasks that
// are not done; a phase that comes out of the archive does not bring them back.
func (m *Manager) EditPhase(ctx context.Context, id cw.PhaseID, e cw.PhaseEdit) (cw.Phase, error) {
	had, err := m.store.PhaseByID(ctx, id)
	if err != nil {
		return cw.Phase{}, err
	}
	if _, err := m.change(ctx, had.InitiativeID, func(p *plan) error { return p.editPhase(id, e) }); err != nil {
		return cw.Phase{}, err
	}
	return m.store.PhaseByID(ctx, id)
}

// addPhase adds a phase that a person wants, at a place among the others.
func (p *plan) addPhase(ph cw.Phase, at int) {
	ph.InitiativeID, ph.Status, ph.Position = p.Initiative.ID, cw.PhaseApproved, last
	p.Phases = append(p.Phases, ph)
	if at < last {
		_ = move(p, p.Phases, phaseKind(), &p.Phases[len(p.Phases)-1], at) // at is never negative here
	}
}

func (p *plan) editPhase(id cw.PhaseID, e cw.PhaseEdit) error {
	ph := p.phase(id)
	if ph == nil {
		return cw.Errorf(cw.CodeNotFound, "the initiative %s has no phase %s", p.Initiative.Slug, id).
			WithHint("list its phases: cw phase list %s", p.Initiative.Slug)
	}
	set(&ph.Name, e.Name)
	ph.Name = strings.TrimSpace(ph.Name)
	set(&ph.Body, e.Body)
	if e.DependsOn != nil {
		ph.DependsOn = once(*e.DependsOn)
	}
	if e.Status != nil {
		if err := p.setPhaseStatus(ph, *e.Status); err != nil {
			return err
		}
	}
	if e.Position != nil {
		return move(p, p.Phases, phaseKind(), ph, *e.Position)
	}
	return nil
}

// phaseWords are the statuses that a person may give a phase. That it runs is
// told by its tasks.
func phaseWords() []cw.PhaseStatus {
	return []cw.PhaseStatus{cw.PhaseDraft, cw.PhaseApproved, cw.PhaseDone, cw.PhaseArchived}
}

func (p *plan) setPhaseStatus(ph *cw.Phase, to cw.PhaseStatus) error {
	switch {
	case ph.Status == to:
		return nil
	case !slices.Contains(phaseWords(), to):
		return wrongWord("phase", to, phaseWords())
	case to == cw.PhaseArchived:
		return p.archivePhase(ph)
	}
	ph.Status = to
	return nil
}

// archivePhase archives a phase and cancels its tasks that are not done.
// CodeRefused while one of them is worked on.
func (p *plan) archivePhase(ph *cw.Phase) error {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		switch {
		case t.PhaseID != ph.ID || t.Status == cw.TaskDone || t.Status == cw.TaskCancelled:
			continue
		case inWork(t.Status):
			return cw.Errorf(cw.CodeRefused, "the phase %q (%s) cannot be archived: its task %q (%s) is %s", ph.Name, ph.ID, t.Name, t.ID, t.Status).
				WithHint("wait for its agent, or stop it")
		}
		t.Status = cw.TaskCancelled
	}
	ph.Status = cw.PhaseArchived
	return nil
}

func withoutPhaseText(ph *cw.Phase) { ph.Body = "" }

// wrongWord refuses a status that is none, or that is not for people to give.
func wrongWord[S ~string](what string, status S, words []S) error {
	names := texts(words)
	err := cw.Errorf(cw.CodeInvalid, "a person cannot make a %s %.60q", what, string(status))
	if near, ok := cw.Nearest(string(status), names); ok {
		return err.WithHint("did you mean %s? There are %s", near, strings.Join(names, ", "))
	}
	return err.WithHint("there are %s", strings.Join(names, ", "))
}
