package api

import (
	"context"
	"net/http"

	"cw/internal/cw"
)

type createToken struct {
	Body cw.TokenRequest
}

type tokenRef struct {
	Ref string `path:"ref" doc:"id or name"`
}

func registerTokens(s *Server) {
	services := s.opts.Services
	handle(s, "list-tokens", func(ctx context.Context, in *listPage) (cw.Page[cw.Token], error) {
		page, err := services.Tokens(ctx, in.query())
		own := cw.ActorOf(ctx)
		for i := range page.Items {
			page.Items[i].Current = own.Kind == cw.ActorDashboard && string(page.Items[i].ID) == own.ID
		}
		return page, err
	})
	handle(s, "create-token", func(ctx context.Context, in *createToken) (cw.CreatedToken, error) {
		return services.CreateToken(ctx, in.Body)
	})
	handle(s, "revoke-token", func(ctx context.Context, in *tokenRef) (cw.Token, error) {
		token, err := services.RevokeToken(ctx, in.Ref)
		if err == nil {
			s.revoked(token.ID)
		}
		return token, err
	})
}

// CreateToken implements cw.TokenService.
func (c *Client) CreateToken(ctx context.Context, req cw.TokenRequest) (cw.CreatedToken, error) {
	return call[cw.CreatedToken](ctx, c, request{method: http.MethodPost, path: "/v1/tokens", body: req})
}

// Tokens implements cw.TokenService.
func (c *Client) Tokens(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Token], error) {
	params := query{}
	params.page(q)
	return call[cw.Page[cw.Token]](ctx, c, request{method: http.MethodGet, path: "/v1/tokens", query: params})
}

// RevokeToken implements cw.TokenService.
func (c *Client) RevokeToken(ctx context.Context, ref string) (cw.Token, error) {
	return call[cw.Token](ctx, c, request{method: http.MethodDelete, path: "/v1/tokens/" + segment(ref)})
}
