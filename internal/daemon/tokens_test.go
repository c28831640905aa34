package daemon

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
	"cw/internal/store"
)

// door is the tokens over a store of their own, with what they reported.
type door struct {
	tokens
	t        *testing.T
	db       *store.DB
	reported []cw.Actor
}

func newDoor(t *testing.T) *door {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	d := &door{t: t, db: db}
	d.tokens = newTokens(db, func(_ context.Context, a cw.Actor, _ string) { d.reported = append(d.reported, a) })
	return d
}

func (d *door) create(req cw.TokenRequest) cw.CreatedToken {
	d.t.Helper()
	made, err := d.CreateToken(cw.WithActor(d.t.Context(), cw.Actor{Kind: cw.ActorPerson}), req)
	if err != nil {
		d.t.Fatal(err)
	}
	return made
}

// addRunToken stores a token as a run has it.
func (d *door) addRunToken(run cw.RunID) (secret string) {
	d.t.Helper()
	secret = cw.NewToken()
	err := d.db.AddToken(d.t.Context(), cw.Token{
		ID: cw.TokenID(cw.NewID()), Hash: cw.HashToken(secret), Kind: cw.ActorAgent,
		RunID: run, AgentID: "aaaaaaaaaaaa", Scopes: append(cw.RunScopes(), cw.ScopeRead, cw.ScopeOperate),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return secret
}

func (d *door) refuses(secret string) {
	d.t.Helper()
	actor, scopes, err := d.authenticate(d.t.Context(), secret)
	if cw.ErrorCode(err) != cw.CodeUnauthorized || cw.ErrorHint(err) == "" || len(scopes) > 0 || actor != (cw.Actor{}) {
		d.t.Errorf("%.20q: %+v %v %v", secret, actor, scopes, err)
	}
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	reader := d.create(cw.TokenRequest{})
	operator := d.create(cw.TokenRequest{Name: "desk", Scopes: []cw.Scope{cw.ScopeOperate}})
	for _, made := range []cw.CreatedToken{reader, operator} {
		actor, scopes, err := d.authenticate(t.Context(), made.Secret)
		want := cw.Actor{Kind: cw.ActorDashboard, ID: string(made.ID)}
		if err != nil || actor != want || !slices.Equal(scopes, made.Scopes) {
			t.Errorf("%s: %+v %v %v", made.Name, actor, scopes, err)
		}
	}
	if diff := cmp.Diff([]cw.Scope{cw.ScopeRead, cw.ScopeOperate}, operator.Scopes); diff != "" {
		t.Error(diff)
	}
	if _, err := d.RevokeToken(t.Context(), "desk"); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		operator.Secret,                         // revoked
		"", " ", "cwd_", cw.NewDashboardToken(), // never made
		string(reader.ID), cw.HashToken(reader.Secret), // what is known of one that lives
		reader.Secret + " ", reader.Secret[:40], reader.Secret[4:],
	} {
		d.refuses(secret)
	}
	if len(d.reported) > 0 {
		t.Errorf("unknown tokens are events: %v", d.reported)
	}
	if _, _, err := d.authenticate(t.Context(), reader.Secret); err != nil {
		t.Errorf("the other token: %v", err)
	}
}

// TestRunTokenOverTCP: it opens nothing, whatever scopes its row has, and that
// is an event, but not at each of many tries.
func TestRunTokenOverTCP(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	one, other := d.addRunToken("rrrrrrrrrrrr"), d.addRunToken("ssssssssssss")
	for range 100 {
		d.refuses(one)
	}
	d.refuses(other)
	want := []cw.Actor{
		{Kind: cw.ActorAgent, ID: "aaaaaaaaaaaa", AgentID: "aaaaaaaaaaaa", RunID: "rrrrrrrrrrrr"},
		{Kind: cw.ActorAgent, ID: "aaaaaaaaaaaa", AgentID: "aaaaaaaaaaaa", RunID: "ssssssssssss"},
	}
	if diff := cmp.Diff(want, d.reported); diff != "" {
		t.Errorf("reported: %s", diff)
	}
}
