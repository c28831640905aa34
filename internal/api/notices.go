package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

func registerNotices(s *Server) {
	services := s.opts.Services
	// A list has one form everywhere, so these are a page, too.
	handle(s, "try-hooks", func(ctx context.Context, _ *nothing) (cw.Page[cw.HookTrial], error) {
		trials, err := services.TryHooks(ctx)
		return cw.Page[cw.HookTrial]{Items: orEmpty(trials)}, err
	})
}

// TryHooks implements cw.NoticeService.
func (c *Client) TryHooks(ctx context.Context) ([]cw.HookTrial, error) {
	page, err := call[cw.Page[cw.HookTrial]](ctx, c, request{method: http.MethodPost, path: "/v1/hooks/test"})
	return page.Items, err
}
