package orchestrator

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/worktree"
)

// parentage is what decides about an agent that another one wants to make: who
// that is, and what it has itself.
type parentage struct {
	Agent    cw.Agent
	Options  options
	Trees    []cw.AgentWorktree
	Projects []cw.Project // of the trees, as they are set now
	// Left is what is left of the agent's own budget, in US dollars, beside what
	// it gave to agents that it made; nil: it has none.
	Left *float64
}

// parentOf reads what decides about an agent that the caller wants to make; nil
// for callers that are no agent.
func (o *Orchestrator) parentOf(ctx context.Context) (*parentage, error) {
	actor := cw.ActorOf(ctx)
	if actor.Kind != cw.ActorAgent {
		return nil, nil
	}
	view, err := o.Store.AgentView(ctx, string(actor.AgentID))
	if err != nil {
		return nil, err
	}
	p := &parentage{Agent: view.Agent, Trees: view.Projects}
	if p.Options, err = optionsOf(view.Agent); err != nil {
		return nil, err
	}
	if p.Projects, err = o.projectsOf(ctx, view.Projects); err != nil {
		return nil, err
	}
	p.Left, err = o.leftOf(ctx, view.Agent)
	return p, err
}

// projectsOf gives the projects of worktrees, as they are set now.
func (o *Orchestrator) projectsOf(ctx context.Context, trees []cw.AgentWorktree) ([]cw.Project, error) {
	out := make([]cw.Project, len(trees))
	for i, t := range trees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		out[i] = p
	}
	return out, nil
}

// leftOf is what is left of an agent's own budget; nil when it has none.
func (o *Orchestrator) leftOf(ctx context.Context, a cw.Agent) (*float64, error) {
	all, err := o.budgetsOf(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(b cw.Budget) bool { return b.Scope == cw.BudgetAgent && b.ScopeID == string(a.ID) })
	if i < 0 {
		return nil, nil
	}
	given, err := o.Store.ChildBudgets(ctx, a.ID)
	if err != nil {
		return nil, fmt.Errorf("read the budgets of its agents: %w", err)
	}
	left := max(0, all[i].LimitUSD-all[i].SpentUSD-given)
	return &left, nil
}

// maySpawn tells whether an agent may make agents, as its projects are set now.
func (o *Orchestrator) maySpawn(ctx context.Context, a cw.Agent) (bool, error) {
	view, err := o.Store.AgentView(ctx, string(a.ID))
	if err != nil {
		return false, err
	}
	projects, err := o.projectsOf(ctx, view.Projects)
	return err == nil && cw.MaySpawn(projects, a), err
}

// scopesOf are the rights of a run: what every run has, and where its projects
// allow it to make agents.
func (o *Orchestrator) scopesOf(ctx context.Context, st cw.RunState) ([]cw.Scope, error) {
	projects, err := o.projectsOf(ctx, st.Worktrees)
	if err != nil {
		return nil, err
	}
	if cw.MaySpawn(projects, st.Agent) {
		return append(cw.RunScopes(), cw.ScopeSpawn), nil
	}
	return cw.RunScopes(), nil
}

// childRequest gives an agent's request for another agent as it is carried out.
// What it may choose is its task, mode, name and title, which of its own projects
// and what of its own initiative the other one works on, a sandbox that is
// stricter, and a budget within its own. Everything else is its own, and naming
// anything else is refused: CodeRefused where its projects do not allow it to
// make agents or its budget does not reach, else CodeForbidden.
func childRequest(p parentage, req cw.SpawnRequest) (cw.SpawnRequest, error) {
	if !cw.MaySpawn(p.Projects, p.Agent) {
		return req, cw.NoSpawn()
	}
	if err := sameAsParent(p, req); err != nil {
		return req, err
	}
	projects, err := childProjects(p, req.Projects)
	if err != nil {
		return req, err
	}
	budget, err := childBudget(p, req.BudgetUSD)
	if err != nil {
		return req, err
	}
	return cw.SpawnRequest{
		RequestKey: childKey(p.Agent.ID, req.RequestKey), Goal: childGoal(p.Agent, req), Mode: req.Mode, Name: req.Name,
		Title: orDefault(req.Title, titleOf(req.Goal)), Projects: projects,
		Provider: p.Agent.Provider, AccountID: string(p.Agent.AccountID), Model: p.Agent.Model, Script: p.Options.Script,
		Sandbox: orDefault(req.Sandbox, p.Options.Sandbox), BudgetUSD: budget, AutoResume: p.Options.AutoResume,
		InitiativeID: p.Agent.InitiativeID, PhaseID: req.PhaseID, TaskID: req.TaskID, Env: p.Options.Env,
	}, nil
}

// sameAsParent refuses a request that names something else than the agent's own
// where it has no choice. The environment is not looked at: none is taken.
func sameAsParent(p parentage, req cw.SpawnRequest) error {
	for _, c := range []struct {
		what string
		ok   bool
	}{
		{"a provider", req.Provider == "" || req.Provider == p.Agent.Provider},
		{"an account", req.AccountID == "" || req.AccountID == string(p.Agent.AccountID)},
		{"a model", req.Model == "" || req.Model == p.Agent.Model},
		{"a program", req.Script == "" || req.Script == p.Options.Script},
		{"a base", req.Base == ""},
		{"a looser sandbox", req.Sandbox != cw.SandboxOff || p.Options.Sandbox == "" || p.Options.Sandbox == cw.SandboxOff},
		{"a restart by itself", !req.AutoResume || p.Options.AutoResume},
		{"an initiative", req.InitiativeID == "" || req.InitiativeID == p.Agent.InitiativeID},
		{"a phase or a task", p.Agent.InitiativeID != "" || req.PhaseID == "" && req.TaskID == ""},
	} {
		if !c.ok {
			return cw.Errorf(cw.CodeForbidden, "an agent may not choose %s for another agent", c.what).
				WithHint("leave it out: the other agent gets what you have yourself")
		}
	}
	return nil
}

// childProjects are those that the new agent works in: the agent's own, or some
// of them. A project may be named by the agent's worktree of it, or a folder in
// there: that is where cw run looks when nothing is said.
func childProjects(p parentage, named []string) ([]string, error) {
	wanted := map[cw.ProjectID]bool{}
	for _, ref := range named {
		i := slices.IndexFunc(p.Projects, func(own cw.Project) bool {
			return ref == own.Name || ref == string(own.ID) || p.worksAt(own.ID, ref)
		})
		if i < 0 {
			return nil, cw.Errorf(cw.CodeForbidden, "you do not work in the project %.100q yourself", ref).
				WithHint("name your own projects by their names, or leave them out")
		}
		wanted[p.Projects[i].ID] = true
	}
	var out []string
	for _, own := range p.Projects {
		if len(named) == 0 || wanted[own.ID] {
			out = append(out, string(own.ID))
		}
	}
	return out, nil
}

// worksAt tells whether a path is the agent's own worktree of a project, or in
// it. Nothing is read from there: the path only names the project.
func (p parentage) worksAt(project cw.ProjectID, path string) bool {
	return slices.ContainsFunc(p.Trees, func(t cw.AgentWorktree) bool {
		clean := filepath.Clean(path)
		return t.ProjectID == project && t.Path != "" && (clean == t.Path || strings.HasPrefix(clean, t.Path+string(filepath.Separator)))
	})
}

// childBudget is what the new agent may cost: of an agent with a budget, no more
// than is left of that, and half of it where nothing is said.
func childBudget(p parentage, asked float64) (float64, error) {
	switch {
	case p.Left == nil:
		return asked, nil
	case *p.Left <= 0 || asked > *p.Left:
		return 0, cw.Errorf(cw.CodeRefused, "$%.2f are left of your own budget", *p.Left).
			WithHint("ask for less; what agents that you made may cost counts, too")
	}
	return orDefault(asked, *p.Left/2), nil
}

// childGoal is what the new agent is told to do, and by whom.
func childGoal(parent cw.Agent, req cw.SpawnRequest) string {
	if req.Goal == "" {
		return ""
	}
	return fmt.Sprintf("This comes from the agent %s (%s), not from a person.\n\n%s", parent.Alias, parent.ID, req.Goal)
}

// childKey keeps the keys of an agent's requests apart from those of others, so
// that it cannot be given what somebody else asked for.
func childKey(parent cw.AgentID, key string) string {
	if key == "" {
		return ""
	}
	return "agent/" + string(parent) + "/" + key
}

// beginWhere makes the places of a new agent begin where the agent that makes it
// began: what that has not handed over yet is nobody else's.
func (p *parentage) beginWhere(places []place) {
	for i, pl := range places {
		for _, t := range p.Trees {
			if t.ProjectID == pl.project.ID {
				places[i].base = worktree.Base{Branch: t.BaseBranch, Commit: t.BaseCommit}
			}
		}
	}
}
