package daemon

import (
	"context"
	"fmt"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/store"
)

// tokens implements cw.TokenService: the tokens of dashboards.
type tokens struct {
	store   *store.DB
	misuses *api.Allowance                                         // of events about one run's token
	report  func(ctx context.Context, actor cw.Actor, what string) // stores a security event
	masks   masks
	home    cw.Home
}

func newTokens(db *store.DB, report func(context.Context, cw.Actor, string)) tokens {
	return tokens{store: db, misuses: api.NewAllowance(1, misuseEvery), report: report}
}

// CreateToken implements cw.TokenService.
func (t tokens) CreateToken(ctx context.Context, req cw.TokenRequest) (cw.CreatedToken, error) {
	req, err := req.Complete()
	if err != nil {
		return cw.CreatedToken{}, err
	}
	id, secret := cw.TokenID(cw.NewID()), cw.NewDashboardToken()
	if err := t.masks.learnToken(t.home, id, secret); err != nil {
		return cw.CreatedToken{}, err
	}
	token, err := t.store.AddDashboardToken(ctx, cw.Token{
		ID: id, Name: req.Name, Hash: cw.HashToken(secret), Scopes: req.Scopes,
	}, cw.ActorOf(ctx))
	if err != nil {
		t.masks.forgetToken(t.home, id)
		return cw.CreatedToken{}, err
	}
	return cw.CreatedToken{Token: token, Secret: secret}, nil
}

// Tokens implements cw.TokenService.
func (t tokens) Tokens(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Token], error) {
	return t.store.TokenPage(ctx, q)
}

// RevokeToken implements cw.TokenService.
func (t tokens) RevokeToken(ctx context.Context, ref string) (cw.Token, error) {
	token, err := t.store.RevokeDashboardToken(ctx, ref, cw.ActorOf(ctx))
	if err == nil {
		t.masks.forgetToken(t.home, token.ID)
	}
	return token, err
}

// authenticate tells whose a token is and what it may, for requests over TCP.
// A run's token is none here: agents are known by their processes, which only
// the socket shows. The look-up is by hash, so its time tells nothing of the
// token. CodeUnauthorized.
func (t tokens) authenticate(ctx context.Context, secret string) (cw.Actor, []cw.Scope, error) {
	token, known, err := t.store.TokenByHash(ctx, cw.HashToken(secret))
	switch {
	case err != nil:
		return cw.Actor{}, nil, fmt.Errorf("look up a token: %w", err)
	case !known: // no event: anybody could fill the store with them
		return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "the token is not known").WithHint("make one: cw token create")
	case token.Kind != cw.ActorDashboard:
		agent := cw.Actor{Kind: cw.ActorAgent, ID: string(token.AgentID), AgentID: token.AgentID, RunID: token.RunID}
		if t.misuses.Take(string(token.RunID), time.Now()) {
			t.report(context.WithoutCancel(ctx), agent, "a run's token was used over TCP")
		}
		return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "the token of a run is no token of a dashboard").
			WithHint("agents use the socket that CW_SOCKET names")
	case token.RevokedAt != nil:
		return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "the token was revoked").WithHint("make another: cw token create")
	}
	return cw.Actor{Kind: cw.ActorDashboard, ID: string(token.ID)}, token.Scopes, nil
}

// misuseEvery is how often the misuse of one run's token is an event: a caller
// that tries again and again makes no flood of them.
const misuseEvery = time.Minute
