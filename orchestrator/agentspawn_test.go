package orchestrator

import (
	"fmt"
	"testing"

	"cw/internal/cw"
)

// Every field of a request of an agent, at every depth and setting: what is not
// the agent's own is refused, and where it may make no agents everything is.
func TestChildRequest(t *testing.T) {
	t.Parallel()
	left := 4.0
	parent := parentage{
		Agent: cw.Agent{
			ID: "aaaaaaaaaaaa", Alias: "brave-otter", Provider: "claude", AccountID: "acc", Model: "big", InitiativeID: "init",
		},
		Options: options{Script: "/bin/own", Sandbox: cw.SandboxWorkspace, Env: map[string]string{"PATH": "/own"}},
		Left:    &left,
		Trees:   []cw.AgentWorktree{{ProjectID: "pppppppppppp", Path: "/trees/otter"}},
	}
	base := cw.SpawnRequest{Goal: "go"}
	with := func(change func(*cw.SpawnRequest)) cw.SpawnRequest { r := base; change(&r); return r }
	fields := map[string]struct {
		req  cw.SpawnRequest
		code cw.Code // "": carried out
	}{
		"a goal": {base, ""},
		"own values": {with(func(r *cw.SpawnRequest) {
			r.Provider, r.AccountID, r.Model, r.Script = "claude", "acc", "big", "/bin/own"
		}), ""},
		"own project":        {with(func(r *cw.SpawnRequest) { r.Projects = []string{"shop"} }), ""},
		"a budget within":    {with(func(r *cw.SpawnRequest) { r.BudgetUSD = 4 }), ""},
		"own initiative":     {with(func(r *cw.SpawnRequest) { r.InitiativeID, r.TaskID = "init", "task" }), ""},
		"an environment":     {with(func(r *cw.SpawnRequest) { r.Env = map[string]string{"PATH": "/evil"} }), ""},
		"provider":           {with(func(r *cw.SpawnRequest) { r.Provider = "codex" }), cw.CodeForbidden},
		"account":            {with(func(r *cw.SpawnRequest) { r.AccountID = "other" }), cw.CodeForbidden},
		"model":              {with(func(r *cw.SpawnRequest) { r.Model = "bigger" }), cw.CodeForbidden},
		"script":             {with(func(r *cw.SpawnRequest) { r.Script = "/bin/sh" }), cw.CodeForbidden},
		"base":               {with(func(r *cw.SpawnRequest) { r.Base = "main" }), cw.CodeForbidden},
		"sandbox off":        {with(func(r *cw.SpawnRequest) { r.Sandbox = cw.SandboxOff }), cw.CodeForbidden},
		"auto resume":        {with(func(r *cw.SpawnRequest) { r.AutoResume = true }), cw.CodeForbidden},
		"other initiative":   {with(func(r *cw.SpawnRequest) { r.InitiativeID = "other" }), cw.CodeForbidden},
		"other project":      {with(func(r *cw.SpawnRequest) { r.Projects = []string{"shop", "bank"} }), cw.CodeForbidden},
		"a path":             {with(func(r *cw.SpawnRequest) { r.Projects = []string{"/src/shop"} }), cw.CodeForbidden},
		"own worktree":       {with(func(r *cw.SpawnRequest) { r.Projects = []string{"/trees/otter"} }), ""},
		"a folder in it":     {with(func(r *cw.SpawnRequest) { r.Projects = []string{"/trees/otter/src/"} }), ""},
		"out of it":          {with(func(r *cw.SpawnRequest) { r.Projects = []string{"/trees/otter/../fox"} }), cw.CodeForbidden},
		"a worktree like it": {with(func(r *cw.SpawnRequest) { r.Projects = []string{"/trees/otter2"} }), cw.CodeForbidden},
		"a budget above":     {with(func(r *cw.SpawnRequest) { r.BudgetUSD = 4.01 }), cw.CodeRefused},
	}
	for setting := 0; setting <= cw.AgentSpawnMax; setting++ {
		for depth := 0; depth <= cw.AgentSpawnMax; depth++ {
			for name, c := range fields {
				p := parent
				p.Agent.Depth, p.Projects = depth, []cw.Project{{ID: "pppppppppppp", Name: "shop", Path: "/src/shop", AgentSpawn: setting}}
				what, want := fmt.Sprintf("%s, setting %d, depth %d", name, setting, depth), c.code
				if depth >= setting {
					want = cw.CodeRefused
				}
				got, err := childRequest(p, c.req)
				if cw.ErrorCode(err) != want {
					t.Errorf("%s: %v, want %q", what, err, want)
				}
				if err == nil {
					checkChild(t, what, got)
				}
			}
		}
	}
	alone := parent
	alone.Agent.InitiativeID, alone.Projects = "", []cw.Project{{Name: "shop", AgentSpawn: 1}}
	if _, err := childRequest(alone, with(func(r *cw.SpawnRequest) { r.TaskID = "task" })); cw.ErrorCode(err) != cw.CodeForbidden {
		t.Errorf("a task of somebody's initiative: %v", err)
	}
	none := 0.0
	alone.Left = &none
	if _, err := childRequest(alone, base); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("with nothing left of its budget: %v", err)
	}
}

func checkChild(t *testing.T, what string, got cw.SpawnRequest) {
	t.Helper()
	if got.Provider != "claude" || got.AccountID != "acc" || got.Model != "big" || got.Script != "/bin/own" || got.Sandbox != cw.SandboxWorkspace ||
		got.Base != "" || got.InitiativeID != "init" || len(got.Projects) != 1 || got.Projects[0] != "pppppppppppp" || got.Env["PATH"] != "/own" ||
		got.BudgetUSD <= 0 || got.BudgetUSD > 4 || got.AutoResume {
		t.Errorf("%s: %+v", what, got)
	}
}
