package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type initiativeRef struct {
	Ref string `path:"initiative" doc:"id or slug"`
}

type listInitiatives struct {
	PageParams

	Archived bool `query:"archived" doc:"archived ones, instead of those that are active"`
}

func (in *listInitiatives) filter() cw.InitiativeFilter {
	return cw.InitiativeFilter{PageQuery: in.query(), Archived: in.Archived}
}

type createInitiative struct {
	Body cw.CreateInitiativeRequest
}

type editInitiative struct {
	Ref  string `path:"initiative" doc:"id or slug"`
	Body cw.InitiativeEdit
}

func registerInitiatives(s *Server) {
	services := s.opts.Services
	handle(s, "list-initiatives", func(ctx context.Context, in *listInitiatives) (cw.Page[cw.Initiative], error) {
		page, err := services.Initiatives(ctx, in.filter())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "create-initiative", func(ctx context.Context, in *createInitiative) (cw.Initiative, error) {
		return services.CreateInitiative(ctx, in.Body)
	})
	handle(s, "get-initiative", func(ctx context.Context, in *initiativeRef) (cw.InitiativeView, error) {
		view, err := services.Initiative(ctx, in.Ref)
		view.Pages, view.Phases, view.Tasks = orEmpty(view.Pages), orEmpty(view.Phases), orEmpty(view.Tasks)
		return view, err
	})
	handle(s, "edit-initiative", func(ctx context.Context, in *editInitiative) (cw.Initiative, error) {
		return services.EditInitiative(ctx, in.Ref, in.Body)
	})
}

// initiativePath is the path of an initiative's route.
func initiativePath(ref, rest string) string { return "/v1/initiatives/" + segment(ref) + rest }

// CreateInitiative implements cw.InitiativeService.
func (c *Client) CreateInitiative(ctx context.Context, req cw.CreateInitiativeRequest) (cw.Initiative, error) {
	return call[cw.Initiative](ctx, c, request{method: http.MethodPost, path: "/v1/initiatives", body: req})
}

// Initiatives implements cw.InitiativeService.
func (c *Client) Initiatives(ctx context.Context, f cw.InitiativeFilter) (cw.Page[cw.Initiative], error) {
	q := query{}
	q.flag("archived", f.Archived)
	q.page(f.PageQuery)
	return call[cw.Page[cw.Initiative]](ctx, c, request{method: http.MethodGet, path: "/v1/initiatives", query: q})
}

// Initiative implements cw.InitiativeService.
func (c *Client) Initiative(ctx context.Context, ref string) (cw.InitiativeView, error) {
	return call[cw.InitiativeView](ctx, c, request{method: http.MethodGet, path: initiativePath(ref, "")})
}

// EditInitiative implements cw.InitiativeService.
func (c *Client) EditInitiative(ctx context.Context, ref string, e cw.InitiativeEdit) (cw.Initiative, error) {
	return call[cw.Initiative](ctx, c, request{method: http.MethodPost, path: initiativePath(ref, ""), body: e})
}
