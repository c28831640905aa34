package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

// LookParams say where programs are looked for. Its name is exported because
// huma reads only what reflection may.
type LookParams struct {
	Path string `query:"path" doc:"the PATH on which programs are looked for; taken from a person on the socket only. Without it: the daemon's own"`
}

type listProviders struct{ LookParams }

type getProvider struct {
	Ref string `path:"ref" doc:"name or alias"`
	LookParams
}

func registerProviders(s *Server) {
	services := s.opts.Services
	handle(s, "list-providers", func(ctx context.Context, in *listProviders) (cw.Page[cw.ProviderView], error) {
		views, err := services.Providers(ctx, in.Path)
		return cw.Page[cw.ProviderView]{Items: orEmpty(views)}, err
	})
	handle(s, "get-provider", func(ctx context.Context, in *getProvider) (cw.ProviderView, error) {
		return services.Provider(ctx, in.Ref, in.Path)
	})
}

// Providers implements cw.ProviderService.
func (c *Client) Providers(ctx context.Context, path string) ([]cw.ProviderView, error) {
	params := query{}
	params.text("path", path)
	page, err := call[cw.Page[cw.ProviderView]](ctx, c, request{method: http.MethodGet, path: "/v1/providers", query: params})
	return page.Items, err
}

// Provider implements cw.ProviderService.
func (c *Client) Provider(ctx context.Context, name, path string) (cw.ProviderView, error) {
	params := query{}
	params.text("path", path)
	return call[cw.ProviderView](ctx, c, request{method: http.MethodGet, path: "/v1/providers/" + segment(name), query: params})
}
