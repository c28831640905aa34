package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type openDoor struct {
	Body *cw.OpenRequest
}

type startSession struct {
	Body cw.SessionRequest
}

func registerDoor(s *Server) {
	services := s.opts.Services
	handle(s, "open-dashboard", func(ctx context.Context, in *openDoor) (cw.Opened, error) {
		return services.OpenDoor(ctx, orZero(in.Body))
	})
	handle(s, "start-session", func(ctx context.Context, in *startSession) (cw.CreatedToken, error) {
		return services.StartSession(ctx, in.Body)
	})
	handle(s, "end-session", func(ctx context.Context, _ *nothing) (cw.Token, error) {
		token, err := services.EndSession(ctx)
		if err == nil {
			s.revoked(token.ID)
		}
		return token, err
	})
}

// OpenDoor implements cw.DoorService.
func (c *Client) OpenDoor(ctx context.Context, req cw.OpenRequest) (cw.Opened, error) {
	return call[cw.Opened](ctx, c, request{method: http.MethodPost, path: "/v1/open", body: req})
}

// StartSession implements cw.DoorService.
func (c *Client) StartSession(ctx context.Context, req cw.SessionRequest) (cw.CreatedToken, error) {
	return call[cw.CreatedToken](ctx, c, request{method: http.MethodPost, path: "/v1/sessions", body: req})
}

// EndSession implements cw.DoorService.
func (c *Client) EndSession(ctx context.Context) (cw.Token, error) {
	return call[cw.Token](ctx, c, request{method: http.MethodDelete, path: "/v1/sessions/self"})
}
