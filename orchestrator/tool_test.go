package orchestrator

import (
	"context"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/providers"

	"github.com/google/go-cmp/cmp"
)

// toolStore holds one agent and the tokens of its runs.
type toolStore struct {
	Store
	agent  cw.Agent
	tokens map[cw.RunID]cw.Token
}

func (s toolStore) AgentByRef(_ context.Context, ref string) (cw.Agent, error) {
	if ref != string(s.agent.ID) {
		return cw.Agent{}, cw.Errorf(cw.CodeNotFound, "there is no agent %s", ref)
	}
	return s.agent, nil
}

func (s toolStore) RunToken(_ context.Context, run cw.RunID) (cw.Token, bool, error) {
	token, found := s.tokens[run]
	return token, found, nil
}

// TestToolbox: role by role, by mode and by provider. Only an agent has one, and
// in it is what the row of its run's token says.
func TestToolbox(t *testing.T) {
	t.Parallel()
	over := time.Unix(1, 0)
	presets, problems := providers.Load(t.TempDir())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	all := cw.MayUse(cw.RunScopes(), nil, nil)
	tokens := map[cw.RunID]cw.Token{
		"r-all":   {Scopes: cw.RunScopes()},
		"r-spawn": {Scopes: append(cw.RunScopes(), cw.ScopeSpawn)},
		"r-cut":   {Scopes: cw.RunScopes(), ToolsDeny: all[1:]},
		"r-over":  {Scopes: append(cw.RunScopes(), cw.ScopeSpawn), RevokedAt: &over},
	}
	for _, mode := range cw.Modes() {
		for provider, waits := range map[string]struct {
			asks bool
			max  int
		}{"claude": {true, 0}, "codex": {false, 30}, "qwen": {false, 600}} {
			agent := cw.Agent{ID: "aaaaaaaaaaaa", Alias: "brave-otter", AgentCwd: "/w", Mode: mode, Provider: provider}
			o := New(Config{Store: toolStore{agent: agent, tokens: tokens}, Presets: presets})
			want := cw.Toolbox{
				AgentID: agent.ID, AgentName: agent.Alias, AgentCwd: "/w", Mode: mode, Provider: provider,
				AsksWait: waits.asks, CallMax: waits.max,
			}
			for run, tools := range map[cw.RunID][]string{"r-all": all, "r-spawn": all, "r-cut": all[:1], "r-over": {}, "r-unknown": {}} {
				actor := cw.Actor{Kind: cw.ActorAgent, ID: string(agent.ID), AgentID: agent.ID, RunID: run}
				box, err := o.Toolbox(cw.WithActor(t.Context(), actor))
				want.Tools, want.MaySpawn = tools, run == "r-spawn"
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, box); diff != "" {
					t.Errorf("%s %s %s: %s", mode, provider, run, diff)
				}
			}
			for _, kind := range []cw.ActorKind{cw.ActorPerson, cw.ActorDashboard, cw.ActorCW, "", "nobody"} {
				box, err := o.Toolbox(cw.WithActor(t.Context(), cw.Actor{Kind: kind, AgentID: agent.ID, RunID: "r-all"}))
				if cw.ErrorCode(err) != cw.CodeForbidden || box.Tools != nil {
					t.Errorf("%q has %v (%v)", kind, box.Tools, err)
				}
			}
		}
	}
}
