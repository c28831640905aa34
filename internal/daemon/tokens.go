package daemon

import (
	"context"
	"fmt"
	"time"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/store"
)

// tokens implements cw.TokenService: the tokens of dashboards, and the sessions
// of browsers, which are tokens too.
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
	return t.add(ctx, cw.Token{ID: id, Name: req.Name, Hash: cw.HashToken(secret), Scopes: req.Scopes}, secret, cw.ActorOf(ctx))
}

// add stores a token, and notes its secret for the masks.
func (t tokens) add(ctx context.Context, token cw.Token, secret string, by cw.Actor) (cw.CreatedToken, error) {
	if err := t.masks.learnToken(t.home, token.ID, secret); err != nil {
		return cw.CreatedToken{}, err
	}
	token, err := t.store.AddDashboardToken(ctx, token, by)
	if err != nil {
		t.masks.forgetToken(t.home, token.ID)
		return cw.CreatedToken{}, err
	}
	return cw.CreatedToken{Token: token, Secret: secret}, nil
}

// endExpired ends the sessions that nobody used for too long.
func (t tokens) endExpired(ctx context.Context) error {
	ended, err := t.store.EndExpiredSessions(ctx)
	t.forget(ended)
	return err
}

// endSessions ends all sessions, and tells how many there were.
func (t tokens) endSessions(ctx context.Context) (int, error) {
	ended, err := t.store.EndSessions(ctx)
	t.forget(ended)
	return len(ended), err
}

// forget lets go of the masks of tokens that are over.
func (t tokens) forget(ended []cw.Token) {
	for _, token := range ended {
		t.masks.forgetToken(t.home, token.ID)
	}
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
	case token.Session && (token.RevokedAt != nil || token.Expired(time.Now())):
		return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "the session is over").WithHint("begin another: cw open")
	case token.RevokedAt != nil:
		return cw.Actor{}, nil, cw.Errorf(cw.CodeUnauthorized, "the token was revoked").WithHint("make another: cw token create")
	case token.UseIsNews(time.Now()):
		// A full disk keeps nobody out: the session ends earlier then.
		_ = t.store.UseSession(ctx, token.ID, time.Now().UTC())
	}
	return cw.Actor{Kind: cw.ActorDashboard, ID: string(token.ID)}, token.Scopes, nil
}

// misuseEvery is how often the misuse of one run's token is an event: a caller
// that tries again and again makes no flood of them.
const misuseEvery = time.Minute
