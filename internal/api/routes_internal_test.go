package api

import (
	"testing"

	"cw/internal/cw"
)

// A right of one kind of caller is none of another's, whatever scopes it has.
func TestMayCall(t *testing.T) {
	t.Parallel()
	all := append(cw.RunScopes(), cw.ScopeSpawn, cw.ScopeRead, cw.ScopeOperate, Anyone, "")
	odd := append(cw.RunScopes(), cw.ScopeSpawn, "")
	for _, row := range Routes() {
		for _, c := range []struct {
			name   string
			kind   cw.ActorKind
			scopes []cw.Scope
			want   bool
		}{
			{"nobody", nobody, all, row.Dashboard == Anyone},
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
