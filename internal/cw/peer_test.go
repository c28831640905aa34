package cw_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestSees(t *testing.T) {
	t.Parallel()
	of := func(id string, initiative cw.InitiativeID) cw.Agent {
		return cw.Agent{ID: cw.AgentID(id), InitiativeID: initiative}
	}
	for _, c := range []struct {
		a, b   cw.Agent
		shares bool
		want   bool
	}{
		{of("a", ""), of("a", ""), false, true},
		{of("a", ""), of("b", ""), false, false},
		{of("a", ""), of("b", ""), true, true},
		{of("a", "i"), of("b", "i"), false, true},
		{of("a", "i"), of("b", "j"), true, false},
		{of("a", "i"), of("b", ""), true, false},
		{of("a", ""), of("b", "i"), true, false},
	} {
		if got := c.a.Sees(c.b, c.shares); got != c.want {
			t.Errorf("%+v sees %+v, shared project %v: %v", c.a.ID, c.b, c.shares, got)
		}
	}
}

// Every depth with every setting, of one project and of two.
func TestMaySpawn(t *testing.T) {
	t.Parallel()
	if cw.MaySpawn(nil, cw.Agent{}) {
		t.Error("an agent without a project may")
	}
	for setting := 0; setting <= cw.AgentSpawnMax+2; setting++ {
		for depth := 0; depth <= cw.AgentSpawnMax+2; depth++ {
			a := cw.Agent{Depth: depth}
			want := depth < setting && depth < cw.AgentSpawnMax
			one := []cw.Project{{AgentSpawn: setting}}
			if got := cw.MaySpawn(one, a); got != want {
				t.Errorf("setting %d, depth %d: %v", setting, depth, got)
			}
			if got := cw.MaySpawn(append(one, cw.Project{AgentSpawn: cw.AgentSpawnMax}), a); got != want {
				t.Errorf("setting %d and the greatest, depth %d: %v", setting, depth, got)
			}
			if cw.MaySpawn(append(one, cw.Project{}), a) {
				t.Errorf("setting %d beside a project that does not allow it, depth %d", setting, depth)
			}
		}
	}
}

// What agents see of each other is what is listed here, and no more.
func TestForPeer(t *testing.T) {
	t.Parallel()
	now := time.Now()
	full := cw.AgentView{
		Agent: cw.Agent{
			ID: "a", Alias: "brave-otter", Definition: "execute", Mode: cw.ModeExecute, Provider: "claude", AccountID: "secret", Model: "secret",
			Title: "t", Status: cw.StatusIdle, Reason: cw.ReasonDone, RetryAt: &now, Error: "secret", Result: "secret", NoChanges: "secret",
			Warnings: []string{"secret"}, ParentID: "p", Depth: 1, Origin: "secret", CreatedBy: "secret", InitiativeID: "i", PhaseID: "ph", TaskID: "ta",
			AgentCwd: "/secret", SessionID: "secret", SessionNumber: 2, LastSnippet: "secret", OptionsJSON: "secret", CreatedAt: now, UpdatedAt: now,
		},
		OutputPath: "/secret", AccountName: "secret", CostUSD: 4711, Worktree: "/secret", Branch: "agent/brave-otter", BaseCommit: "secret",
		Projects:         []cw.AgentWorktree{{ProjectID: "pr", Project: "shop", Path: "/secret", Branch: "agent/brave-otter", BaseCommit: "secret", FetchFrom: "/secret"}},
		PendingQuestions: []cw.Question{{Text: "secret"}}, Runs: []cw.Run{{Result: "secret"}},
	}
	want := cw.AgentView{
		Agent: cw.Agent{
			ID: "a", Alias: "brave-otter", Definition: "execute", Mode: cw.ModeExecute, Provider: "claude", Title: "t", Status: cw.StatusIdle,
			Reason: cw.ReasonDone, Warnings: []string{}, ParentID: "p", InitiativeID: "i", PhaseID: "ph", TaskID: "ta", SessionNumber: 2,
			CreatedAt: now, UpdatedAt: now,
		},
		Branch: "agent/brave-otter", Projects: []cw.AgentWorktree{{ProjectID: "pr", Project: "shop", Branch: "agent/brave-otter"}},
		PendingQuestions: []cw.Question{}, Runs: []cw.Run{},
	}
	if diff := cmp.Diff(want, full.ForPeer()); diff != "" {
		t.Error(diff)
	}
	if text := fmt.Sprintf("%+v", full.ForPeer()); strings.Contains(text, "secret") || strings.Contains(text, "4711") {
		t.Error(text)
	}
}

func TestAgentMessageRequest(t *testing.T) {
	t.Parallel()
	got, err := cw.AgentMessageRequest{AgentID: "execute", Content: "go"}.Complete()
	if err != nil || got.Session != cw.SessionLatestOrCreate || got.Mode != cw.MessageSync || got.TimeoutSeconds != 300 {
		t.Errorf("%+v, %v", got, err)
	}
	for name, req := range map[string]cw.AgentMessageRequest{
		"nobody":       {Content: "go"},
		"nothing":      {AgentID: "execute", Content: " \n"},
		"too long":     {AgentID: "execute", Content: strings.Repeat("x", cw.MessageMax+1)},
		"no text":      {AgentID: "execute", Content: "a\xffb"},
		"a zero":       {AgentID: "execute", Content: "a\x00b"},
		"odd mode":     {AgentID: "execute", Content: "go", Mode: "later"},
		"no patience":  {AgentID: "execute", Content: "go", TimeoutSeconds: -1},
		"for ever":     {AgentID: "execute", Content: "go", TimeoutSeconds: cw.MessageTimeoutMax + 1},
		"long session": {AgentID: "execute", Content: "go", Session: strings.Repeat("s", 200)},
	} {
		if _, err := req.Complete(); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
