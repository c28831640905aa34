package planning

import (
	"context"

	"cw/artifacts"
	"cw/internal/cw"
)

// dismissedMax is how many dismissed proposals an agent is told of, the newest.
const dismissedMax = 200

// Assignment gives everything that an agent is given to read; for an agent that
// works for no initiative only who it is. CodeNotFound for an initiative, a
// phase or a task that is none.
func (m *Manager) Assignment(ctx context.Context, agent cw.Agent) (artifacts.Input, error) {
	if agent.InitiativeID == "" {
		return artifacts.Input{Agent: agent}, nil
	}
	s, err := m.store.InitiativeState(ctx, agent.InitiativeID)
	if err != nil {
		return artifacts.Input{}, err
	}
	return gatherInitiativeContext(s, agent)
}

// gatherInitiativeContext is what agents of every mode are given: all pages, all
// phases and tasks with where they stand, and what people did not want. The
// phase of a task is that of its agent.
func gatherInitiativeContext(s cw.InitiativeState, agent cw.Agent) (artifacts.Input, error) {
	in := artifacts.Input{
		Agent: agent, Initiative: s.Initiative, Pages: s.Pages, Phases: s.Phases, Tasks: s.Tasks,
	}
	phase := agent.PhaseID
	if agent.TaskID != "" {
		in.Task = find(s.Tasks, func(t cw.Task) bool { return t.ID == agent.TaskID })
		if in.Task == nil {
			return artifacts.Input{}, notOfInitiative(s, "task", string(agent.TaskID))
		}
		phase = in.Task.PhaseID
	}
	if phase != "" {
		in.Phase = find(s.Phases, func(ph cw.Phase) bool { return ph.ID == phase })
		if in.Phase == nil {
			return artifacts.Input{}, notOfInitiative(s, "phase", string(phase))
		}
	}
	for _, p := range s.Proposals {
		if p.Status == cw.ProposalDismissed {
			in.Dismissed = append(in.Dismissed, p)
		}
	}
	if n := len(in.Dismissed); n > dismissedMax {
		in.Dismissed = in.Dismissed[n-dismissedMax:]
	}
	return in, nil
}

func notOfInitiative(s cw.InitiativeState, what, id string) error {
	return cw.Errorf(cw.CodeNotFound, "the initiative %s has no %s %.60q", s.Initiative.Slug, what, id).
		WithHint("list them: cw %s list %s", what, s.Initiative.Slug)
}
