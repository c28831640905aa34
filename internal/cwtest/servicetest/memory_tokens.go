package servicetest

import (
	"context"
	"slices"

	"cw/internal/cw"
)

// CreateToken implements cw.TokenService.
func (m *Memory) CreateToken(ctx context.Context, req cw.TokenRequest) (created cw.CreatedToken, err error) {
	if req, err = req.Complete(); err != nil {
		return created, err
	}
	m.change(func() { created, err = m.createToken(cw.ActorOf(ctx), req) })
	return created, err
}

func (m *Memory) createToken(by cw.Actor, req cw.TokenRequest) (cw.CreatedToken, error) {
	return m.addToken(by, cw.Token{ID: cw.TokenID(cw.NewID()), Name: req.Name, Kind: cw.ActorDashboard, Scopes: req.Scopes}, cw.NewDashboardToken())
}

func (m *Memory) addToken(by cw.Actor, token cw.Token, secret string) (cw.CreatedToken, error) {
	taken := func(name string) bool {
		return slices.ContainsFunc(m.tokens, func(t cw.Token) bool { return t.Name == name && t.RevokedAt == nil })
	}
	if token.Name == "" {
		token.Name, _ = cw.FreeTokenName(token.DefaultName(), func(name string) (bool, error) { return taken(name), nil })
	}
	if taken(token.Name) {
		return cw.CreatedToken{}, cw.TokenNameTaken(token.Name)
	}
	token.Hash, token.CreatedAt = "", m.now()
	m.tokens = append(m.tokens, token)
	m.tell(cw.NewEvent(cw.EventTokenCreated, by, token.Changed()))
	return cw.CreatedToken{Token: token, Secret: secret}, nil
}

// Tokens implements cw.TokenService.
func (m *Memory) Tokens(_ context.Context, q cw.PageQuery) (cw.Page[cw.Token], error) {
	start, err := cw.TokenList().Start(q)
	if err != nil {
		return cw.Page[cw.Token]{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return pageOf(start, m.tokens), nil
}

// RevokeToken implements cw.TokenService.
func (m *Memory) RevokeToken(ctx context.Context, ref string) (token cw.Token, err error) {
	m.change(func() { token, err = m.revokeToken(cw.ActorOf(ctx), ref) })
	return token, err
}

func (m *Memory) revokeToken(by cw.Actor, ref string) (cw.Token, error) {
	var found *cw.Token
	for i := range m.tokens { // oldest first: the last that lives, or else the last
		t := &m.tokens[i]
		if (string(t.ID) == ref || t.Name == ref) && (found == nil || found.RevokedAt != nil) {
			found = t
		}
	}
	switch {
	case found == nil:
		return cw.Token{}, cw.NoSuchToken(ref)
	case found.RevokedAt != nil:
		return *found, nil
	}
	at := m.now()
	found.RevokedAt = &at
	m.tell(cw.NewEvent(cw.EventTokenRevoked, by, found.Changed()))
	return *found, nil
}
