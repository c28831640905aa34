package planning

import (
	"context"
	"slices"

	"cw/artifacts"
	"cw/internal/cw"
)

// Assign finds what a new agent is to work for, by as much of it as the agent
// names: a task names its phase, a phase its initiative, and InitiativeID may be
// a slug as well. It gives the agent with all of them and with a title, when it
// has none, and everything that it is given to read.
//
// CodeNotFound; CodeInvalid for a mode that lacks what it works on, and for names
// that do not belong together; CodeRefused for what is over.
func (m *Manager) Assign(ctx context.Context, agent cw.Agent) (cw.Agent, artifacts.Input, error) {
	owner, err := m.ownerOf(ctx, agent)
	if err != nil {
		return agent, artifacts.Input{}, err
	}
	if owner == "" {
		if agent.Mode.Architect() {
			return agent, artifacts.Input{}, cw.Errorf(cw.CodeInvalid, "an agent of mode %s works for an initiative, and none is named", agent.Mode).
				WithHint("name one with --initiative; cw initiative list shows them, cw initiative create \"…\" makes one")
		}
		return agent, artifacts.Input{Agent: agent}, nil
	}
	s, err := m.store.InitiativeState(ctx, owner)
	if err != nil {
		return agent, artifacts.Input{}, err
	}
	return assign(s, agent)
}

// ownerOf finds the initiative of what an agent names; "" for nothing.
func (m *Manager) ownerOf(ctx context.Context, agent cw.Agent) (cw.InitiativeID, error) {
	var owner cw.InitiativeID
	belongs := func(what, id string, to cw.InitiativeID) error {
		if owner != "" && owner != to {
			return cw.Errorf(cw.CodeInvalid, "the %s %s belongs to another initiative than the rest", what, id).
				WithHint("name the task alone: it knows its phase and its initiative")
		}
		owner = to
		return nil
	}
	if agent.InitiativeID != "" {
		i, err := m.store.InitiativeByRef(ctx, string(agent.InitiativeID))
		if err != nil {
			return "", err
		}
		owner = i.ID
	}
	if agent.PhaseID != "" {
		phase, err := m.store.PhaseByID(ctx, agent.PhaseID)
		if err == nil {
			err = belongs("phase", string(phase.ID), phase.InitiativeID)
		}
		if err != nil {
			return "", err
		}
	}
	if agent.TaskID != "" {
		task, err := m.store.TaskByID(ctx, agent.TaskID)
		if err == nil {
			err = belongs("task", string(task.ID), task.InitiativeID)
		}
		if err != nil {
			return "", err
		}
	}
	return owner, nil
}

// assign decides with the initiative at hand.
func assign(s cw.InitiativeState, agent cw.Agent) (cw.Agent, artifacts.Input, error) {
	none := artifacts.Input{}
	agent.InitiativeID = s.Initiative.ID
	if err := begin(s, cw.Actor{}, s.Initiative.UpdatedAt).refuseArchived(); err != nil {
		return agent, none, err
	}
	if agent.Mode == cw.ModeDetail && agent.PhaseID == "" && agent.TaskID == "" {
		open := slices.DeleteFunc(slices.Clone(s.Phases), over)
		if len(open) != 1 {
			return agent, none, cw.Errorf(cw.CodeInvalid, "an agent of mode detail works on one phase, and the initiative %s has %d", s.Initiative.Slug, len(open)).
				WithHint("name one with --phase; cw phase list %s shows them, and mode plan suggests some", s.Initiative.Slug)
		}
		agent.PhaseID = open[0].ID
	}
	named := agent.PhaseID
	in, err := gatherInitiativeContext(s, agent)
	if err != nil {
		return agent, none, err
	}
	if in.Phase != nil {
		agent.PhaseID = in.Phase.ID
	}
	if named != "" && named != agent.PhaseID {
		return agent, none, cw.Errorf(cw.CodeInvalid, "the task %s belongs to the phase %s, not to %s", agent.TaskID, agent.PhaseID, named).
			WithHint("name the task alone: it knows its phase")
	}
	if err := mayWorkOn(agent, in); err != nil {
		return agent, none, err
	}
	if agent.Title == "" {
		agent.Title = titleOf(agent, in)
	}
	in.Agent = agent
	return agent, in, nil
}

// over tells whether nothing is to be suggested for a phase any more.
func over(ph cw.Phase) bool { return ph.Status == cw.PhaseArchived || ph.Status == cw.PhaseDone }

// mayWorkOn refuses what is over, and what no agent can do.
func mayWorkOn(agent cw.Agent, in artifacts.Input) error {
	if agent.Mode != cw.ModeExecute && in.Task != nil {
		return cw.Errorf(cw.CodeInvalid, "agents of mode %s do no task", agent.Mode).
			WithHint("leave --task out, or choose --mode execute")
	}
	if in.Phase != nil && in.Phase.Status == cw.PhaseArchived {
		return cw.Errorf(cw.CodeRefused, "the phase %s (%s) is archived", in.Phase.ID, in.Phase.Name).
			WithHint("take it out of the archive first: cw phase archive %s --undo", in.Phase.ID)
	}
	if in.Task == nil {
		return nil
	}
	switch t := in.Task; {
	case t.Status == cw.TaskDone:
		return cw.Errorf(cw.CodeRefused, "the task %s (%s) is done", t.ID, t.Name).
			WithHint("open it again first: cw task done %s --undo", t.ID)
	case t.Status == cw.TaskCancelled:
		return cw.Errorf(cw.CodeRefused, "the task %s (%s) is cancelled", t.ID, t.Name).
			WithHint("open it again first: cw task cancel %s --undo", t.ID)
	case t.Type == cw.TaskCheckpointDecide || t.Type == cw.TaskCheckpointAction:
		return cw.Errorf(cw.CodeInvalid, "the task %s (%s) is a %s: a person does it", t.ID, t.Name, t.Type).
			WithHint("do it, and then: cw task done %s", t.ID)
	}
	return nil
}

// titleOf says what an agent is there for.
func titleOf(agent cw.Agent, in artifacts.Input) string {
	switch {
	case in.Task != nil:
		return in.Task.Name
	case agent.Mode == cw.ModeExecute:
		return ""
	case in.Phase != nil:
		return string(agent.Mode) + ": " + in.Phase.Name
	}
	return string(agent.Mode) + ": " + in.Initiative.Name
}
