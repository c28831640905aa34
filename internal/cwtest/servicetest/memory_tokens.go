package servicetest

import (
	"context"

	"cw/internal/cw"
)

// CreateToken implements cw.TokenService.
func (m *Memory) CreateToken(ctx context.Context, req cw.TokenRequest) (cw.CreatedToken, error) {
	return cw.CreatedToken{}, cw.Errorf(cw.CodeInternal, "TODO")
}

// Tokens implements cw.TokenService.
func (m *Memory) Tokens(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Token], error) {
	return cw.Page[cw.Token]{}, cw.Errorf(cw.CodeInternal, "TODO")
}

// RevokeToken implements cw.TokenService.
func (m *Memory) RevokeToken(ctx context.Context, ref string) (cw.Token, error) {
	return cw.Token{}, cw.Errorf(cw.CodeInternal, "TODO")
}
