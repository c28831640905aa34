package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

func registerSettings(s *Server) {
	services := s.opts.Services
	handle(s, "get-config", func(ctx context.Context, _ *nothing) (cw.SettingList, error) {
		list, err := services.Settings(ctx)
		list.Items = orEmpty(list.Items)
		return list, err
	})
}

// Settings implements cw.SettingService.
func (c *Client) Settings(ctx context.Context) (cw.SettingList, error) {
	return call[cw.SettingList](ctx, c, request{method: http.MethodGet, path: "/v1/config"})
}
