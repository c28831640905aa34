package daemon

import (
	"context"

	"cw/internal/cw"
	"cw/internal/store"
)

// tokens implements cw.TokenService: the tokens of dashboards.
type tokens struct {
	store *store.DB
}

// CreateToken implements cw.TokenService.
func (t tokens) CreateToken(ctx context.Context, req cw.TokenRequest) (cw.CreatedToken, error) {
	return cw.CreatedToken{}, cw.Errorf(cw.CodeInternal, "TODO")
}

// Tokens implements cw.TokenService.
func (t tokens) Tokens(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Token], error) {
	return cw.Page[cw.Token]{}, cw.Errorf(cw.CodeInternal, "TODO")
}

// RevokeToken implements cw.TokenService.
func (t tokens) RevokeToken(ctx context.Context, ref string) (cw.Token, error) {
	return cw.Token{}, cw.Errorf(cw.CodeInternal, "TODO")
}

// authenticate tells whose a token is and what it may, for api.Options.
func (t tokens) authenticate(ctx context.Context, token string) (cw.Actor, []cw.Scope, error) {
	return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "the token is not known")
}
