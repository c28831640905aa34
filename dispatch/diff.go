package dispatch

import (
	"context"
	"slices"

	"cw/internal/cw"
)

// TaskDiff implements cw.MergeService.
func (d *Dispatcher) TaskDiff(ctx context.Context, id cw.TaskID, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	t, err := d.Store.TaskByID(ctx, id)
	if err != nil {
		return cw.Diff{}, err
	}
	m, found, err := d.Store.MergeOfTask(ctx, id)
	if err != nil {
		return cw.Diff{}, err
	}
	if !found || len(m.Parts) == 0 {
		if t.AgentID == "" {
			return cw.Diff{}, cw.Errorf(cw.CodeRefused, "nobody has worked on %q yet", t.Name).WithHint("why it waits: cw dispatch status")
		}
		return d.Agents.Diff(ctx, string(t.AgentID), req)
	}
	names := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		names[i] = p.Project
	}
	i, err := whichProject(names, req.Project)
	if err != nil {
		return cw.Diff{}, err
	}
	part := m.Parts[i]
	p, err := d.Store.ProjectByRef(ctx, string(part.ProjectID))
	if err != nil {
		return cw.Diff{}, err
	}
	base, err := d.comparedWith(ctx, m, part, req.Against)
	if err != nil {
		return cw.Diff{}, err
	}
	diff, err := d.Repos.Diff(ctx, p, base, part.Head, req)
	diff.Branch = t.Name
	if view, lookErr := d.Store.AgentView(ctx, string(m.AgentID)); lookErr == nil {
		diff.Branch = "agent/" + view.Alias
	}
	return diff, err
}

// comparedWith is the commit with which the work of a merge is compared.
func (d *Dispatcher) comparedWith(ctx context.Context, m cw.Merge, part cw.MergePart, side cw.DiffSide) (string, error) {
	switch {
	case side == cw.AgainstHead:
		rows, err := d.Store.IntegrationsOf(ctx, m.InitiativeID)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			if r.ProjectID == part.ProjectID && r.Head != "" {
				return r.Head, nil
			}
		}
		return "", cw.Errorf(cw.CodeRefused, "the initiative has no branch in %s yet", part.Project).WithHint("compare with where it began: --against %s", cw.AgainstBase)
	case side == "" && part.Onto != "" && part.Onto != part.Commit:
		return part.Onto, nil
	}
	return d.baseOf(ctx, m, part)
}

// baseOf is the commit that the agent of a merge began from.
func (d *Dispatcher) baseOf(ctx context.Context, m cw.Merge, part cw.MergePart) (string, error) {
	view, err := d.Store.AgentView(ctx, string(m.AgentID))
	if err != nil {
		return "", err
	}
	for _, tree := range view.Projects {
		if tree.ProjectID == part.ProjectID {
			return tree.BaseCommit, nil
		}
	}
	return "", cw.Errorf(cw.CodeNotFound, "it is not known from which commit %s began", view.Alias)
}

// InitiativeDiff implements cw.MergeService.
func (d *Dispatcher) InitiativeDiff(ctx context.Context, initiative string, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	in, err := d.Store.InitiativeByRef(ctx, initiative)
	if err != nil {
		return cw.Diff{}, err
	}
	rows, err := d.Store.IntegrationsOf(ctx, in.ID)
	if err != nil {
		return cw.Diff{}, err
	}
	rows = slices.DeleteFunc(rows, func(r cw.Integration) bool { return r.Head == "" })
	if len(rows) == 0 {
		return cw.Diff{}, cw.Errorf(cw.CodeRefused, "nothing of the initiative %s is merged yet", in.Slug).WithHint("what it waits for: cw dispatch status %s", in.Slug)
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Project
	}
	i, err := whichProject(names, req.Project)
	if err != nil {
		return cw.Diff{}, err
	}
	p, err := d.Store.ProjectByRef(ctx, string(rows[i].ProjectID))
	if err != nil {
		return cw.Diff{}, err
	}
	base := rows[i].BaseCommit
	if req.Against == cw.AgainstHead {
		if base, err = d.Repos.Target(ctx, p, rows[i]); err != nil {
			return cw.Diff{}, err
		}
	}
	diff, err := d.Repos.Diff(ctx, p, base, rows[i].Head, req)
	diff.Branch = rows[i].Branch
	return diff, err
}
