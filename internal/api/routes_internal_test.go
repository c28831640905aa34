package api

import (
	"testing"

	"cw/internal/cw"
)

// A right of one kind of caller is none of another's, whatever scopes it has.
func TestMayCall(t *testing.T) {
	t.Parallel()
	all := append(cw.RunScopes(), cw.ScopeSpawn, cw.ScopeRead, cw.ScopeOperate, cw.ScopePerson, Anyone, OwnPage, "")
	odd := append(cw.RunScopes(), cw.ScopeSpawn, "")
	for _, row := range Routes() {
		for _, c := range []struct {
			name   string
			kind   cw.ActorKind
			scopes []cw.Scope
			want   bool
		}{
			{"nobody", nobody, all, row.Dashboard == Anyone || row.Dashboard == OwnPage},
			{"a dashboard with everything", cw.ActorDashboard, all, row.Dashboard != ""},
			{"a dashboard with an agent's rights", cw.ActorDashboard, odd, false},
			{"an agent with everything", cw.ActorAgent, all, row.Scope != ""},
			{"an agent with a dashboard's rights", cw.ActorAgent, []cw.Scope{cw.ScopeRead, cw.ScopeOperate, Anyone, ""}, false},
			{"cw", cw.ActorCW, all, false},
			{"no kind", "", all, false},
		} {
			if err := row.mayCall(cw.Actor{Kind: c.kind}, c.scopes); (err == nil) != c.want {
				t.Errorf("%s on %s: %v", c.name, row.ID, err)
			}
		}
	}
}

// What a token may grows with each scope, and only a session's reaches what is
// a person's.
func TestCovers(t *testing.T) {
	t.Parallel()
	for scope, may := range map[cw.Scope][]bool{
		cw.ScopeRead:    {true, false, false},
		cw.ScopeOperate: {true, true, false},
		cw.ScopePerson:  {true, true, true},
		cw.ScopeSpawn:   {false, false, false},
	} {
		for i, needed := range []cw.Scope{cw.ScopeRead, cw.ScopeOperate, cw.ScopePerson} {
			if covers([]cw.Scope{scope}, needed) != may[i] {
				t.Errorf("%s covers %s: %v", scope, needed, !may[i])
			}
		}
		if covers([]cw.Scope{scope}, Anyone) || covers([]cw.Scope{scope}, never) || covers([]cw.Scope{scope}, OwnPage) {
			t.Errorf("%s is granted by a token", scope)
		}
	}
}
