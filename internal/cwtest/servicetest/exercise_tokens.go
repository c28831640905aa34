package servicetest

import (
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// tokensCase: a token is made, listed without its secret, and ended, by name
// or by id; each change is an event.
func tokensCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	made, err := s.CreateToken(ctx, cw.TokenRequest{Name: "wall screen", Scopes: []cw.Scope{cw.ScopeOperate}})
	ok(t, err)
	if made.ID == "" || made.Kind != cw.ActorDashboard || made.RevokedAt != nil || !strings.HasPrefix(made.Secret, "cwd_") ||
		!slices.Equal(made.Scopes, []cw.Scope{cw.ScopeRead, cw.ScopeOperate}) {
		t.Errorf("made %+v", made)
	}
	_, err = s.CreateToken(ctx, cw.TokenRequest{Name: "wall screen"})
	wantCode(t, "CreateToken with a name that is taken", err, cw.CodeRefused)
	unnamed, err := s.CreateToken(ctx, cw.TokenRequest{})
	ok(t, err)
	another, err := s.CreateToken(ctx, cw.TokenRequest{})
	ok(t, err)
	if unnamed.Name == "" || unnamed.Name == another.Name || unnamed.Secret == another.Secret || !slices.Equal(unnamed.Scopes, []cw.Scope{cw.ScopeRead}) {
		t.Errorf("made %+v and %+v", unnamed, another)
	}

	gone, err := s.RevokeToken(ctx, "wall screen")
	ok(t, err)
	again, err := s.RevokeToken(ctx, string(made.ID))
	ok(t, err)
	if diff := cmp.Diff(gone, again); diff != "" || gone.ID != made.ID || gone.RevokedAt == nil {
		t.Errorf("revoked %+v, and again: %s", gone, diff)
	}
	second, err := s.CreateToken(ctx, cw.TokenRequest{Name: "wall screen"})
	ok(t, err)

	list, err := cw.AllPages(ctx, s.Tokens)
	ok(t, err)
	if diff := cmp.Diff([]cw.Token{second.Token, another.Token, unnamed.Token, gone}, list); diff != "" {
		t.Errorf("tokens: %s", diff)
	}
	first, err := s.Tokens(ctx, cw.PageQuery{Limit: 3})
	ok(t, err)
	rest, err := s.Tokens(ctx, cw.PageQuery{Limit: 3, Cursor: first.Next})
	ok(t, err)
	if diff := cmp.Diff(list, append(first.Items, rest.Items...)); diff != "" || first.Next == "" || rest.Next != "" {
		t.Errorf("in two pages: %s", diff)
	}
	tokenEventsCase(t, f, []cw.EventType{
		cw.EventTokenCreated, cw.EventTokenCreated, cw.EventTokenCreated, cw.EventTokenRevoked, cw.EventTokenCreated,
	}, made.Secret, unnamed.Secret)
}

func tokenEventsCase(t *testing.T, f Fixture, want []cw.EventType, secrets ...string) {
	t.Helper()
	var got []cw.EventType
	for _, e := range collect(t, f.Services.Events(soon(t), cw.EventQuery{Types: []cw.EventType{cw.EventTokenCreated, cw.EventTokenRevoked}})) {
		got = append(got, e.Type)
		for _, secret := range secrets {
			if strings.Contains(string(e.Data), secret) {
				t.Errorf("the event tells the secret: %s", e.Data)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// badTokensCase: what is no name, no scope or no token is refused and changes
// nothing.
func badTokensCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	for _, name := range []string{"-x", "a\nb", "\x1b[2J", "..", strings.Repeat("n", cw.TokenNameMax+1)} {
		_, err := s.CreateToken(ctx, cw.TokenRequest{Name: name})
		wantCode(t, "CreateToken "+name, err, cw.CodeInvalid)
	}
	for _, scope := range []cw.Scope{"write", "self:read", "Operate"} {
		_, err := s.CreateToken(ctx, cw.TokenRequest{Scopes: []cw.Scope{cw.ScopeRead, scope}})
		wantCode(t, "CreateToken for "+string(scope), err, cw.CodeInvalid)
	}
	for _, ref := range []string{unknown, cw.NewID(), "a/b", "..", "ü?#%2F", "-x"} {
		_, err := s.RevokeToken(ctx, ref)
		wantCode(t, "RevokeToken "+ref, err, cw.CodeNotFound)
	}
	list, err := cw.AllPages(ctx, s.Tokens)
	ok(t, err)
	if len(list) != 0 {
		t.Errorf("there are tokens: %v", list)
	}
}
