package cw

import (
	"slices"
)

// Limits of the agents that an agent makes.
const (
	ChildrenAlive = 5  // whose process may exist, or that go on by themselves
	ChildrenMax   = 20 // in all
)

// Sees tells whether an agent may see another one, and so message and ask it:
// agents of its own initiative, and where neither has one, those that share a
// project with it. The store says the same in SQL.
func (a Agent) Sees(b Agent, sharesProject bool) bool {
	return a.ID == b.ID || a.InitiativeID == b.InitiativeID && (a.InitiativeID != "" || sharesProject)
}

// ForPeer gives what other agents may see of an agent: who it is, what for and
// where it stands; nothing of what it was told, says or costs, nor where its
// files are.
func (v AgentView) ForPeer() AgentView {
	seen := AgentView{
		Agent: Agent{
			ID: v.ID, Alias: v.Alias, Definition: v.Definition, Mode: v.Mode, Provider: v.Provider, Title: v.Title,
			Status: v.Status, Reason: v.Reason, Warnings: []string{}, ParentID: v.ParentID,
			InitiativeID: v.InitiativeID, PhaseID: v.PhaseID, TaskID: v.TaskID, SessionNumber: v.SessionNumber,
			DeletedAt: v.DeletedAt, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		},
		Projects: []AgentWorktree{}, PendingQuestions: []Question{}, Runs: []Run{}, Branch: v.Branch,
	}
	for _, p := range v.Projects {
		seen.Projects = append(seen.Projects, AgentWorktree{ProjectID: p.ProjectID, Project: p.Project, Branch: p.Branch, State: p.State})
	}
	return seen
}

// MayMessage refuses a text of an agent to one that only a person may start
// again. CodeRefused.
func MayMessage(to Agent) error {
	refused := func(is, hint string) error {
		return Errorf(CodeRefused, "agent %s %s", to.Alias, is).WithHint("%s", hint)
	}
	switch {
	case to.DeletedAt != nil:
		return refused("is removed", "only a person can bring it back; go on without it, or message another agent")
	case to.Status == StatusCrashed:
		return refused("has crashed", "only a person can resume it; go on without it, or message another agent")
	case to.Status == StatusStopped:
		return refused("was stopped", "only a person can resume it; go on without it, or message another agent")
	}
	return nil
}

// MaySpawn tells whether an agent may make agents: all projects that it works in
// must allow it at its depth. One without a project may not.
func MaySpawn(projects []Project, a Agent) bool {
	tooDeep := func(p Project) bool { return a.Depth >= min(p.AgentSpawn, AgentSpawnMax) }
	return len(projects) > 0 && !slices.ContainsFunc(projects, tooDeep)
}

// NoSpawn is the error for an agent that may not make agents.
func NoSpawn() error {
	return Errorf(CodeRefused, "you may not make agents here").
		WithHint("a person can allow it for a project: cw project set NAME agentSpawn 1; until then go on yourself, or message an agent that is there")
}
