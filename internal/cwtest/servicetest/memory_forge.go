package servicetest

import (
	"context"
	"slices"

	"cw/internal/cw"
)

// CreatePullRequest implements cw.ForgeService: nothing is merged, so there is
// nothing to open one for.
func (m *Memory) CreatePullRequest(ctx context.Context, initiative string, req cw.PullRequestRequest) (cw.PullRequest, error) {
	if err := req.Check(); err != nil {
		return cw.PullRequest{}, err
	}
	i, err := m.Initiative(ctx, initiative)
	if err != nil {
		return cw.PullRequest{}, err
	}
	known := slices.ContainsFunc(i.Projects, func(p cw.InitiativeProject) bool { return p.Name == req.Project || string(p.ID) == req.Project })
	if req.Project != "" && !known {
		return cw.PullRequest{}, cw.Errorf(cw.CodeNotFound, "%s has no project %q", i.Slug, req.Project).WithHint("see: cw initiative show %s", i.Slug)
	}
	return cw.PullRequest{}, cw.Errorf(cw.CodeRefused, "nothing of %s is merged yet", i.Slug).WithHint("see: cw dispatch status")
}
