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
	DiffParams

	ID string `path:"task" doc:"the task's id"`
}

type diffInitiative struct {
	DiffParams

	Ref string `path:"initiative" doc:"id or slug"`
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
		return wholeDiff(in.ask(func(req cw.DiffRequest) (cw.Diff, error) { return services.TaskDiff(ctx, cw.TaskID(in.ID), req) }))
	})
	handle(s, "get-initiative-diff", func(ctx context.Context, in *diffInitiative) (cw.Diff, error) {
		return wholeDiff(in.ask(func(req cw.DiffRequest) (cw.Diff, error) { return services.InitiativeDiff(ctx, in.Ref, req) }))
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
	return c.diff(ctx, taskPath(id), req)
}

// InitiativeDiff implements cw.MergeService.
func (c *Client) InitiativeDiff(ctx context.Context, initiative string, req cw.DiffRequest) (cw.Diff, error) {
	return c.diff(ctx, initiativePath(initiative, ""), req)
}
