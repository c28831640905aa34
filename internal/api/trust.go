package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type projectFile struct {
	Ref string `path:"ref" doc:"id, name, path or URL (percent-encoded)"`
	At  string `query:"at" doc:"branch or commit to read it from, of the user's repository or of cw's copy; default: HEAD"`
}

type trustProject struct {
	Ref  string `path:"ref" doc:"id, name, path or URL (percent-encoded)"`
	Body cw.TrustRequest
}

func registerTrust(s *Server) {
	services := s.opts.Services
	handle(s, "get-project-file", func(ctx context.Context, in *projectFile) (cw.ProjectFileView, error) {
		return services.ProjectFile(ctx, in.Ref, in.At)
	})
	handle(s, "trust-project", func(ctx context.Context, in *trustProject) (cw.ProjectFileView, error) {
		return services.TrustProject(ctx, in.Ref, in.Body)
	})
}

// ProjectFile implements cw.TrustService.
func (c *Client) ProjectFile(ctx context.Context, project, ref string) (cw.ProjectFileView, error) {
	params := query{}
	params.text("at", ref)
	return call[cw.ProjectFileView](ctx, c, request{method: http.MethodGet, path: "/v1/projects/" + segment(project) + "/file", query: params})
}

// TrustProject implements cw.TrustService.
func (c *Client) TrustProject(ctx context.Context, project string, req cw.TrustRequest) (cw.ProjectFileView, error) {
	return call[cw.ProjectFileView](ctx, c, request{method: http.MethodPost, path: "/v1/projects/" + segment(project) + "/trust", body: req})
}
