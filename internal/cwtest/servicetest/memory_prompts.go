package servicetest

import (
	"context"

	"cw/internal/cw"
	"cw/prompts"
)

// Prompt implements cw.PromptService: for an agent that works in the projects
// that are named, or in those of its initiative, each at a base that is none.
func (m *Memory) Prompt(ctx context.Context, req cw.PromptRequest) (cw.PromptView, error) {
	if err := req.Check(); err != nil {
		return cw.PromptView{}, err
	}
	in := prompts.Input{AgentID: "AGENT-ID", AgentName: "agent-name", Task: req.Goal, Cwd: "/work/agent-name", Commands: prompts.AgentCommands()}
	projects := req.Projects
	initiative, task, err := m.subject(ctx, req)
	if err != nil {
		return cw.PromptView{}, err
	}
	if task != "" {
		in.Task = task
	}
	for _, p := range initiative.Projects {
		if len(req.Projects) == 0 {
			projects = append(projects, string(p.ID))
		}
	}
	for _, ref := range projects {
		p, err := m.Project(ctx, ref)
		if err != nil {
			return cw.PromptView{}, err
		}
		in.Projects = append(in.Projects, prompts.Project{Name: p.Name, Path: p.Name, Branch: "agent/agent-name", BaseCommit: "4f2c9aa1d0"})
	}
	p, err := prompts.Render(string(req.Mode), in)
	return p.View(), err
}

// subject finds the initiative that an agent would work for, and the words of
// its task.
func (m *Memory) subject(ctx context.Context, req cw.PromptRequest) (i cw.Initiative, task string, err error) {
	of := req.Initiative
	if req.TaskID != "" {
		t, err := m.Task(ctx, req.TaskID)
		if err != nil {
			return i, "", err
		}
		of, task = string(t.InitiativeID), t.Body
	}
	if req.PhaseID != "" {
		ph, err := m.Phase(ctx, req.PhaseID)
		if err != nil {
			return i, "", err
		}
		of = string(ph.InitiativeID)
	}
	for _, ref := range []string{req.Initiative, of} { // what is named must be there, too
		if ref == "" {
			continue
		}
		if i, err = m.plans.InitiativeByRef(ctx, ref); err != nil {
			return i, "", err
		}
	}
	return i, task, nil
}
