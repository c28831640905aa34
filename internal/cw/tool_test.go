package cw_test

import (
	"slices"
	"testing"
	"time"

	"cw/internal/cw"

	"github.com/google/go-cmp/cmp"
)

// TestToolRights is the table of tools and roles, written by hand: what is in no
// cell is denied.
func TestToolRights(t *testing.T) {
	t.Parallel()
	over := time.Unix(1, 0)
	agent := []string{
		"ask_user_question", "plan_create", "plan_update", "agents_list", "agents_message", "ask_agent", "listen",
		"answer", "new_id", "task_context", "signal_done", "signal_questions", "signal_error",
	}
	for name, c := range map[string]struct {
		token cw.Token
		want  []string
	}{
		"a run":                     {cw.Token{Scopes: cw.RunScopes()}, agent},
		"a run that may spawn":      {cw.Token{Scopes: append(cw.RunScopes(), cw.ScopeSpawn)}, agent},
		"a run that is over":        {cw.Token{Scopes: cw.RunScopes(), RevokedAt: &over}, nil},
		"nobody":                    {cw.Token{}, nil},
		"a dashboard that reads":    {cw.Token{Scopes: []cw.Scope{cw.ScopeRead}}, nil},
		"a dashboard that operates": {cw.Token{Scopes: []cw.Scope{cw.ScopeRead, cw.ScopeOperate}}, nil},
		"an empty scope":            {cw.Token{Scopes: []cw.Scope{""}}, nil},
		"one that may spawn alone":  {cw.Token{Scopes: []cw.Scope{cw.ScopeSpawn}}, nil},
		"one that reads itself":     {cw.Token{Scopes: []cw.Scope{cw.ScopeReadSelf}}, []string{"new_id", "task_context"}},
		"one that signals":          {cw.Token{Scopes: []cw.Scope{cw.ScopeSignal}}, agent[10:]},
		"one that asks people":      {cw.Token{Scopes: []cw.Scope{cw.ScopeQuestion}}, agent[:1]},
		"one that plans":            {cw.Token{Scopes: []cw.Scope{cw.ScopePlan}}, agent[1:3]},
		"one that sees others":      {cw.Token{Scopes: []cw.Scope{cw.ScopePeers}}, agent[3:4]},
		"one that talks":            {cw.Token{Scopes: []cw.Scope{cw.ScopeMessage}}, agent[4:8]},
		"allowed two":               {cw.Token{Scopes: cw.RunScopes(), ToolsAllow: []string{"listen", "new_id"}}, []string{"listen", "new_id"}},
		"allowed what is none":      {cw.Token{Scopes: cw.RunScopes(), ToolsAllow: []string{"shell"}}, nil},
		"allowed past its scopes":   {cw.Token{Scopes: []cw.Scope{cw.ScopePlan}, ToolsAllow: []string{"listen"}}, nil},
		"denied one":                {cw.Token{Scopes: []cw.Scope{cw.ScopePlan}, ToolsDeny: []string{"plan_create"}}, []string{"plan_update"}},
		"allowed and denied":        {cw.Token{Scopes: cw.RunScopes(), ToolsAllow: []string{"listen"}, ToolsDeny: []string{"listen"}}, nil},
	} {
		if diff := cmp.Diff(c.want, c.token.Rights().Tools()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got, want := c.token.MaySpawn(), slices.Contains(c.token.Scopes, cw.ScopeSpawn); got != want {
			t.Errorf("%s: may spawn %v", name, got)
		}
	}
	var table []string
	for _, row := range cw.ToolRights() {
		table = append(table, row.Tool)
		if row.Scope == "" || slices.Contains([]cw.Scope{cw.ScopeRead, cw.ScopeOperate}, row.Scope) {
			t.Errorf("%s needs %q", row.Tool, row.Scope)
		}
	}
	if diff := cmp.Diff(agent, table); diff != "" {
		t.Errorf("the table: %s", diff)
	}
}
