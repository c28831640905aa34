package orchestrator

import (
	"context"

	"cw/internal/cw"
)

// Agents implements cw.AgentService.
func (o *Orchestrator) Agents(ctx context.Context, f cw.AgentFilter) (cw.Page[cw.AgentView], error) {
	page, err := o.Store.AgentViews(ctx, f)
	if err != nil {
		return page, err
	}
	for i := range page.Items {
		o.addActivity(&page.Items[i])
	}
	return page, nil
}

// Agent implements cw.AgentService.
func (o *Orchestrator) Agent(ctx context.Context, ref string) (cw.AgentView, error) {
	view, err := o.Store.AgentView(ctx, ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	o.addActivity(&view)
	return view, nil
}

// addActivity adds what is known only here: what a running agent does now.
func (o *Orchestrator) addActivity(v *cw.AgentView) {
	if v.Status != cw.StatusRunning || len(v.Runs) == 0 {
		return
	}
	o.mu.Lock()
	f, ok := o.live[v.Runs[len(v.Runs)-1].ID]
	o.mu.Unlock()
	if ok && f != nil {
		v.Activity = f.activity()
		addLiveSpend(v, f.spend())
		f.addContext(&v.Runs[len(v.Runs)-1])
	}
}

// addContext adds to a run that is under way how full its context is.
func (f *follower) addContext(r *cw.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.EndedAt == nil {
		r.ContextTokens, r.ContextLimit = f.summary.ContextTokens, f.summary.ContextLimit
	}
}

// Diff implements cw.AgentService.
func (o *Orchestrator) Diff(ctx context.Context, ref string, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.Diff{}, err
	}
	diff, err := o.diff(ctx, agent.ID, req)
	if code := cw.ErrorCode(err); err == nil || ctx.Err() != nil || code != cw.CodeInternal && code != cw.CodeFailed {
		return diff, err
	}
	// A clean-up or a removal may just have taken the worktree away: once more
	// when nothing of the kind is under way.
	done, turnErr := o.turns.take(ctx, agent.ID)
	if turnErr != nil {
		return cw.Diff{}, turnErr
	}
	defer done()
	return o.diff(ctx, agent.ID, req)
}

func (o *Orchestrator) diff(ctx context.Context, agent cw.AgentID, req cw.DiffRequest) (cw.Diff, error) {
	view, err := o.Store.AgentView(ctx, string(agent))
	if err != nil {
		return cw.Diff{}, err
	}
	tree, err := chooseTree(view, req.Project)
	if err != nil {
		return cw.Diff{}, err
	}
	look, err := o.lookRequest(ctx, view.Agent, tree)
	if err != nil {
		return cw.Diff{}, err
	}
	against := ""
	if req.Against == cw.AgainstHead {
		if against, err = o.headOf(ctx, view.Agent, tree); err != nil {
			return cw.Diff{}, err
		}
	}
	return o.Repos.Diff(ctx, look, against, req)
}

// headOf is the commit of the branch to which an agent's work goes, in one of its
// projects. CodeRefused when there is none.
func (o *Orchestrator) headOf(ctx context.Context, a cw.Agent, tree cw.AgentWorktree) (string, error) {
	refused := func(format string, args ...any) error {
		return cw.Errorf(cw.CodeRefused, format, args...).WithHint("compare with where it began: --against %s", cw.AgainstBase)
	}
	if a.InitiativeID == "" {
		return "", refused("%s works for no initiative, so its work goes to no branch", a.Alias)
	}
	rows, err := o.Store.IntegrationsOf(ctx, a.InitiativeID)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.ProjectID == tree.ProjectID && r.Head != "" {
			return r.Head, nil
		}
	}
	return "", refused("the initiative of %s has no branch in %s yet", a.Alias, tree.Project)
}

func chooseTree(v cw.AgentView, project string) (cw.AgentWorktree, error) {
	for _, t := range v.Projects {
		if t.Project == project || string(t.ProjectID) == project || (project == "" && len(v.Projects) == 1) {
			return t, nil
		}
	}
	switch {
	case len(v.Projects) == 0:
		return cw.AgentWorktree{}, cw.Errorf(cw.CodeRefused, "agent %s works on no project", v.Alias).WithHint("its folder is %s", v.AgentCwd)
	case project == "":
		return cw.AgentWorktree{}, cw.Errorf(cw.CodeInvalid, "agent %s works on several projects", v.Alias).WithHint("name one: --project %s", v.Projects[0].Project)
	}
	return cw.AgentWorktree{}, cw.Errorf(cw.CodeNotFound, "agent %s does not work on %s", v.Alias, project).WithHint("cw agent show %s lists its projects", v.Alias)
}
