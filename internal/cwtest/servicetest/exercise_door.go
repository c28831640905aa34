package servicetest

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

// doorCase: a code opens one session, which is listed and ended like a token,
// and may what people may.
func doorCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	opened, err := s.OpenDoor(ctx, cw.OpenRequest{Path: "/agents/brave-otter"})
	ok(t, err)
	at, err := url.Parse(opened.URL)
	ok(t, err)
	code, told := strings.CutPrefix(at.Fragment, "code=")
	if !told || at.Host != opened.Address || at.Path != "/agents/brave-otter" || at.RawQuery != "" || opened.ExpiresAt.IsZero() || opened.File != "" {
		t.Fatalf("opened %+v", opened)
	}
	session, err := s.StartSession(ctx, cw.SessionRequest{Code: code})
	ok(t, err)
	if !session.Session || session.Kind != cw.ActorDashboard || session.Secret == "" || session.ExpiresAt == nil ||
		!slices.Equal(session.Scopes, []cw.Scope{cw.ScopeRead, cw.ScopeOperate, cw.ScopePerson}) {
		t.Errorf("started %+v", session.Token)
	}
	for _, wrong := range []string{code, "", "cwo_", cw.NewOpenCode(), code + " "} {
		_, err = s.StartSession(ctx, cw.SessionRequest{Code: wrong})
		wantCode(t, "StartSession with a code that is none", err, cw.CodeUnauthorized)
	}
	_, err = s.EndSession(ctx)
	wantCode(t, "EndSession by who has none", err, cw.CodeInvalid)

	list, err := cw.AllPages(ctx, s.Tokens)
	ok(t, err)
	if len(list) != 1 || list[0].ID != session.ID || list[0].RevokedAt != nil {
		t.Errorf("tokens %+v", list)
	}
	ended, err := s.RevokeToken(ctx, session.Name)
	ok(t, err)
	if ended.ID != session.ID || ended.RevokedAt == nil {
		t.Errorf("ended %+v", ended)
	}
	tokenEventsCase(t, f, []cw.EventType{cw.EventTokenCreated, cw.EventTokenRevoked}, code, session.Secret)
}

// badDoorCase: what is no page of the dashboard is refused, and no token can
// have the rights of a session.
func badDoorCase(t *testing.T, f Fixture) {
	ctx, s := soon(t), f.Services
	for _, path := range []string{"agents", "//evil.com", "/a#b", "/a b", "/a?b", `/a"b`, "/ä", "/" + strings.Repeat("a", 300)} {
		_, err := s.OpenDoor(ctx, cw.OpenRequest{Path: path})
		wantCode(t, "OpenDoor "+path, err, cw.CodeInvalid)
	}
	_, err := s.CreateToken(ctx, cw.TokenRequest{Scopes: []cw.Scope{cw.ScopePerson}})
	wantCode(t, "CreateToken for a person", err, cw.CodeInvalid)
}
