package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type projectRef struct {
	Ref string `path:"ref" doc:"id, name or path (percent-encoded)"`
}

type addProject struct {
	Body addProjectBody
}

type addProjectBody struct {
	Path string `json:"path" doc:"absolute path of the repository, or of a folder in it"`
}

func registerProjects(s *Server) {
	services := s.opts.Services
	handle(s, "list-projects", func(ctx context.Context, in *listPage) (cw.Page[cw.Project], error) {
		page, err := services.Projects(ctx, in.query())
		page.Items = orEmpty(page.Items)
		return page, err
	})
	handle(s, "add-project", func(ctx context.Context, in *addProject) (cw.Project, error) {
		return services.AddProject(ctx, in.Body.Path)
	})
	handle(s, "get-project", func(ctx context.Context, in *projectRef) (cw.Project, error) {
		return services.Project(ctx, in.Ref)
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
func (c *Client) AddProject(ctx context.Context, path string) (cw.Project, error) {
	return call[cw.Project](ctx, c, request{method: http.MethodPost, path: "/v1/projects", body: addProjectBody{path}})
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

// RemoveProject implements cw.ProjectService.
func (c *Client) RemoveProject(ctx context.Context, ref string) (cw.Project, error) {
	return call[cw.Project](ctx, c, request{method: http.MethodDelete, path: "/v1/projects/" + segment(ref)})
}
