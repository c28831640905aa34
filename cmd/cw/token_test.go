package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
)

func TestTokenOptions(t *testing.T) {
	t.Parallel()
	create := func(a *app, f func(context.Context, *tokenCreateOptions) error) runner {
		return newTokenCreateCmd(a, f)
	}
	got, err := parsed(t, []string{"--name", "x y", "--scope", "read,operate", "--scope", "read"}, create)
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &tokenCreateOptions{name: "x y", scopes: []string{"read", "operate", "read"}}, got)
	revoke, err := parsed(t, []string{"a", "b"},
		func(a *app, f func(context.Context, *tokenRevokeOptions) error) runner {
			return newTokenRevokeCmd(a, f)
		})
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, &tokenRevokeOptions{refs: []string{"a", "b"}}, revoke)
}

func TestToken(t *testing.T) {
	t.Parallel()
	door := func(b *bench) { b.fake.status.HTTP = "127.0.0.1:7420" }
	two := func(b *bench) {
		revoked := epoch.Add(-time.Hour)
		b.fake.tokens = []cw.Token{
			{ID: "uuuuuuuuuuuu", Name: "wall screen", Kind: cw.ActorDashboard, Scopes: []cw.Scope{cw.ScopeRead, cw.ScopeOperate}, CreatedAt: epoch},
			{ID: "tttttttttttt", Name: "dashboard", Kind: cw.ActorDashboard, Scopes: []cw.Scope{cw.ScopeRead}, CreatedAt: epoch.Add(-24 * time.Hour), RevokedAt: &revoked},
		}
	}
	sessions(t, "token", []sessionCase{
		{"create", []string{"token", "create"}, door, 0},
		{"create no door", []string{"token", "create", "--name", "wall screen", "--scope", "operate"}, nil, 0},
		{"create json", []string{"token", "create", "--json"}, door, 0},
		{"create bad name", []string{"token", "create", "--name", "-x"}, nil, 2},
		{"create bad scope", []string{"token", "create", "--scope", "reed"}, nil, 2},
		{"create taken", []string{"token", "create", "--name", "wall"}, func(b *bench) {
			b.fake.errs["CreateToken"] = cw.TokenNameTaken("wall")
		}, 4},
		{"create inside", []string{"token", "create"}, func(b *bench) {
			b.fake.errs["CreateToken"] = cw.Errorf(cw.CodeForbidden, "an agent may not do this (create-token)")
		}, 4},
		{"create status fails", []string{"token", "create"}, func(b *bench) {
			b.fake.errs["Status"] = cw.Errorf(cw.CodeUnreachable, "the daemon is stopping")
		}, 0},
		{"list", []string{"token", "list"}, two, 0},
		{"list json", []string{"token", "ls", "--json"}, two, 0},
		{"list empty", []string{"token", "list"}, nil, 0},
		{"list empty json", []string{"token", "list", "--json"}, nil, 0},
		{"revoke", []string{"token", "revoke", "wall screen", "nobody", "tttttttttttt"}, two, 3},
		{"revoke json", []string{"token", "revoke", "--json", "wall screen"}, two, 0},
		{"revoke nothing", []string{"token", "revoke"}, two, 2},
	})
}

// TestTokenThatNobodySaw: when it cannot be shown it is ended again, and the
// command fails.
func TestTokenThatNobodySaw(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"token", "create"}, {"token", "create", "--json"}} {
		b := newBench(t)
		b.out = full{}
		if text, code := b.session(t.Context(), args...); code != 1 || !strings.Contains(text, "no space left") {
			t.Errorf("want exit code 1:\n%s", text)
		}
		if got := strings.Join(b.fake.revoked, " "); got != "dashboard" {
			t.Errorf("revoked: %q", got)
		}
	}
}
