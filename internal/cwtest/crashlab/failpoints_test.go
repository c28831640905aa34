package crashlab

import (
	"slices"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// points are the steps at which the daemon is killed, by the flow that reaches
// them.
var points = map[string][]string{
	"spawn": {
		"worktree/seeded", "worktree/mirror", "worktree/expected", "worktree/heads", "worktree/synced",
		"worktree/intent", "worktree/base", "worktree/added", "worktree/included", "worktree/whole",
		"worktree/kept", "worktree/handed-over",
		"spawn/intended", "spawn/worktrees", "spawn/inputs", "spawn/prepared",
		"spawn/starting", "spawn/started", "spawn/running", "follow/stored",
		"finish/drained", "finish/observed", "finish/kept", "finish/handed-over", "finish/stored",
	},
	"stop": {"stop/requested", "stop/ended"},
	"lost": {"lost/seen", "lost/ended"},
}

// TestFailpoints kills the daemon right after each named step of a flow. A
// step that is never reached fails the test. The next daemon must bring the
// agent to the end that it would have had.
func TestFailpoints(t *testing.T) {
	for flow, steps := range points {
		for _, step := range steps {
			t.Run(step, func(t *testing.T) { killAt(t, flow, step) })
		}
	}
}

func killAt(t *testing.T, flow, step string) {
	l := lab.New(t, binary)
	l.Env = []string{"CW_FAILPOINT=" + step}
	l.Start()
	script := fakecli.Script{
		Seed: 7, Pieces: 30, PaceMS: 1, File: "work.txt", Content: "x\n", Commit: "Work",
		Signal: `{"status":"done"}`, Hang: flow != "spawn", Book: l.Books,
	}
	key := cw.NewID()
	req := cw.SpawnRequest{RequestKey: key, Goal: script.Goal(), Projects: []string{l.Repo}, Provider: "fake"}
	go func() { _, _ = l.Client().Spawn(t.Context(), req) }() // the daemon may die under it
	if flow != "spawn" {
		act(t, l, flow)
	}
	if !l.Ended(30 * time.Second) {
		t.Fatalf("the step was never reached\n%s", l.DaemonLog())
	}
	l.Env = nil
	l.Start()
	if flow == "spawn" {
		// The caller asks again, with the same key: it must get the same agent.
		if _, err := l.Client().Spawn(t.Context(), req); err != nil {
			t.Fatalf("ask again: %v", err)
		}
	}
	agents, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
	if err != nil || len(agents) != 1 {
		t.Fatalf("%d agents, %v; want one", len(agents), err)
	}
	view := l.Rest(string(agents[0].ID))
	want := map[string]cw.AgentStatus{"spawn": cw.StatusIdle, "stop": cw.StatusStopped, "lost": cw.StatusCrashed}[flow]
	if view.Status != want {
		t.Errorf("status %s (%s %s), want %s\n%s", view.Status, view.Reason, view.Error, want, l.DaemonLog())
	}
	books, err := fakecli.ReadBooks(l.Books)
	if err != nil {
		t.Fatal(err)
	}
	if b := books[string(view.Runs[0].ID)]; len(books) != 1 || b.Starts() != 1 {
		t.Errorf("%d books, started %d times", len(books), b.Starts())
	}
	all := fakecli.NewStream(script.Seed, false).Bytes(script.Pieces)
	if raw := l.Raw(string(view.ID), 1); !slices.Equal(raw, all) {
		t.Errorf("%d bytes stored, %d written", len(raw), len(all))
	}
	if flow == "spawn" && view.Commits() != 1 {
		t.Errorf("%d commits", view.Commits())
	}
	for _, p := range lab.Processes(string(l.Home)) {
		if p.Run != "" {
			t.Errorf("left behind: %d %s", p.PID, p.Command)
		}
	}
}

// act does what leads to the step: a stop, or the death of the shim.
func act(t *testing.T, l *lab.Lab, flow string) {
	t.Helper()
	view := l.Until(only(t, l), func(v cw.AgentView) bool {
		return v.Status == cw.StatusRunning && wrote(t, l, string(v.Runs[0].ID), 30)
	})
	switch flow {
	case "stop":
		go func() { _, _ = l.Client().Stop(t.Context(), view.Alias, cw.StopRequest{Now: true}) }() // the daemon dies under it
	case "lost":
		for _, p := range lab.Processes(string(l.Home)) {
			if p.Shim {
				lab.KillProcess(p)
			}
		}
	}
}

// wrote tells whether a run wrote that many pieces.
func wrote(t *testing.T, l *lab.Lab, run string, pieces int) bool {
	books, err := fakecli.ReadBooks(l.Books)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(books[run].Entries, func(e fakecli.Entry) bool { return e.Pieces == pieces })
}

// only waits for the one agent of a lab and gives its id.
func only(t *testing.T, l *lab.Lab) string {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		agents, err := cw.AllAgents(t.Context(), l.Client(), cw.AgentFilter{})
		if err == nil && len(agents) == 1 {
			return string(agents[0].ID)
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("no agent appeared\n%s", l.DaemonLog())
	return ""
}
