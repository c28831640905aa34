package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type projectRef struct {
	Ref string `path:"ref" doc:"id, name, path or URL (percent-encoded)"`
}

type addProject struct {
	Body cw.ProjectRequest
}

type setProject struct {
	Ref  string `path:"ref" doc:"id, name, path or URL (percent-encoded)"`
	Body cw.ProjectSettings
}

func registerProjects(s *Server) {
	services := s.opts.Services
	handle(s, "list-projects", func(ctx context.Context, in *listPage) (cw.Page[cw.Project], error) {
		page, err := services.Projects(ctx, in.query())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "add-project", func(ctx context.Context, in *addProject) (cw.Project, error) {
		return services.AddProject(ctx, in.Body)
	})
	handle(s, "get-project", func(ctx context.Context, in *projectRef) (cw.Project, error) {
		return services.Project(ctx, in.Ref)
	})
	handle(s, "set-project", func(ctx context.Context, in *setProject) (cw.Project, error) {
		return services.SetProject(ctx, in.Ref, in.Body)
	})
	handle(s, "remove-project", func(ctx context.Context, in *projectRef) (cw.Project, error) {
		return services.RemoveProject(ctx, in.Ref)
	})
}

// orEmpty makes an empty list [] and not null for those who read the JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// AddProject implements cw.ProjectService.
func (c *Client) AddProject(ctx context.Context, req cw.ProjectRequest) (cw.Project, error) {
	return call[cw.Project](ctx, c, request{method: http.MethodPost, path: "/v1/projects", body: req})
}

// Projects implements cw.ProjectService.
func (c *Client) Projects(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Project], error) {
	params := query{}
	params.page(q)
	return call[cw.Page[cw.Project]](ctx, c, request{method: http.MethodGet, path: "/v1/projects", query: params})
}

// Project implements cw.ProjectService.
func (c *Client) Project(ctx context.Context, ref string) (cw.Project, error) {
	return call[cw.Project](ctx, c, request{method: http.MethodGet, path: "/v1/projects/" + segment(ref)})
}

// SetProject implements cw.ProjectService.
func (c *Client) SetProject(ctx context.Context, ref string, s cw.ProjectSettings) (cw.Project, error) {
	return call[cw.Project](ctx, c, request{method: http.MethodPost, path: "/v1/projects/" + segment(ref) + "/settings", body: s})
}

// RemoveProject implements cw.ProjectService.
func (c *Client) RemoveProject(ctx context.Context, ref string) (cw.Project, error) {
	return call[cw.Project](ctx, c, request{method: http.MethodDelete, path: "/v1/projects/" + segment(ref)})
}
