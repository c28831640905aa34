package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type nothing struct{}

func registerDaemon(s *Server) {
	services := s.opts.Services
	handle(s, "get-status", func(ctx context.Context, _ *nothing) (cw.DaemonStatus, error) {
		return services.Status(ctx)
	})
	handle(s, "shut-down", func(ctx context.Context, _ *nothing) (cw.DaemonStatus, error) {
		return services.Shutdown(ctx)
	})
	handle(s, "get-whoami", func(ctx context.Context, _ *nothing) (cw.Whoami, error) {
		return services.Whoami(ctx)
	})
}

// Status implements cw.DaemonService.
func (c *Client) Status(ctx context.Context) (cw.DaemonStatus, error) {
	return call[cw.DaemonStatus](ctx, c, request{method: http.MethodGet, path: "/v1/status"})
}

// Shutdown implements cw.DaemonService.
func (c *Client) Shutdown(ctx context.Context) (cw.DaemonStatus, error) {
	return call[cw.DaemonStatus](ctx, c, request{method: http.MethodPost, path: "/v1/shutdown"})
}

// Whoami implements cw.DaemonService.
func (c *Client) Whoami(ctx context.Context) (cw.Whoami, error) {
	return call[cw.Whoami](ctx, c, request{method: http.MethodGet, path: "/v1/whoami"})
}
