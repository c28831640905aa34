package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type landInitiative struct {
	Ref  string `path:"initiative" doc:"id or slug"`
	Body *cw.LandRequest
}

type diffTask struct {
	ID      string `path:"task" doc:"the task's id"`
	Project string `query:"project" doc:"needed when the work is in several"`
	Stat    bool   `query:"stat" doc:"only the summary"`
}

type diffInitiative struct {
	Ref     string `path:"initiative" doc:"id or slug"`
	Project string `query:"project" doc:"needed when the initiative has several"`
	Stat    bool   `query:"stat" doc:"only the summary"`
}

func registerMerges(s *Server) {
	services := s.opts.Services
	// A list has one form everywhere, so these are pages, too.
	handle(s, "list-merges", func(ctx context.Context, in *initiativeRef) (cw.Page[cw.Merge], error) {
		merges, err := services.Merges(ctx, in.Ref)
		return cw.Page[cw.Merge]{Items: wholeMerges(merges)}, err
	})
	handle(s, "list-integrations", func(ctx context.Context, in *initiativeRef) (cw.Page[cw.Integration], error) {
		branches, err := services.Integrations(ctx, in.Ref)
		return cw.Page[cw.Integration]{Items: orEmpty(branches)}, err
	})
	handle(s, "land-initiative", func(ctx context.Context, in *landInitiative) (cw.Page[cw.Landing], error) {
		landed, err := services.Land(ctx, in.Ref, orZero(in.Body))
		return cw.Page[cw.Landing]{Items: orEmpty(landed)}, err
	})
	handle(s, "get-task-diff", func(ctx context.Context, in *diffTask) (cw.Diff, error) {
		return wholeDiff(services.TaskDiff(ctx, cw.TaskID(in.ID), cw.DiffRequest{Project: in.Project, Stat: in.Stat}))
	})
	handle(s, "get-initiative-diff", func(ctx context.Context, in *diffInitiative) (cw.Diff, error) {
		return wholeDiff(services.InitiativeDiff(ctx, in.Ref, cw.DiffRequest{Project: in.Project, Stat: in.Stat}))
	})
}

// wholeMerges lets no list of merges, and none in them, be null.
func wholeMerges(merges []cw.Merge) []cw.Merge {
	out := make([]cw.Merge, len(merges))
	for i, m := range merges {
		m.Parts = orEmpty(m.Parts)
		out[i] = m
	}
	return out
}

// wholeDiff lets no list of a difference be null: that of a task or an initiative
// has nothing that is not committed.
func wholeDiff(d cw.Diff, err error) (cw.Diff, error) {
	d.Commits, d.Uncommitted = orEmpty(d.Commits), orEmpty(d.Uncommitted)
	return d, err
}

// Merges implements cw.MergeService.
func (c *Client) Merges(ctx context.Context, initiative string) ([]cw.Merge, error) {
	page, err := call[cw.Page[cw.Merge]](ctx, c, request{method: http.MethodGet, path: initiativePath(initiative, "/merges")})
	return page.Items, err
}

// Integrations implements cw.MergeService.
func (c *Client) Integrations(ctx context.Context, initiative string) ([]cw.Integration, error) {
	page, err := call[cw.Page[cw.Integration]](ctx, c, request{method: http.MethodGet, path: initiativePath(initiative, "/integrations")})
	return page.Items, err
}

// Land implements cw.MergeService.
func (c *Client) Land(ctx context.Context, initiative string, req cw.LandRequest) ([]cw.Landing, error) {
	page, err := call[cw.Page[cw.Landing]](ctx, c, request{method: http.MethodPost, path: initiativePath(initiative, "/land"), body: req})
	return page.Items, err
}

// TaskDiff implements cw.MergeService.
func (c *Client) TaskDiff(ctx context.Context, id cw.TaskID, req cw.DiffRequest) (cw.Diff, error) {
	return call[cw.Diff](ctx, c, request{method: http.MethodGet, path: taskPath(id) + "/diff", query: diffQuery(req)})
}

// InitiativeDiff implements cw.MergeService.
func (c *Client) InitiativeDiff(ctx context.Context, initiative string, req cw.DiffRequest) (cw.Diff, error) {
	return call[cw.Diff](ctx, c, request{method: http.MethodGet, path: initiativePath(initiative, "/diff"), query: diffQuery(req)})
}

func diffQuery(req cw.DiffRequest) query {
	q := query{}
	q.text("project", req.Project)
	q.flag("stat", req.Stat)
	return q
}
