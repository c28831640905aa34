package dispatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestSiblingCommit(t *testing.T) {
	t.Parallel()
	tree := cw.AgentWorktree{ProjectID: "b", BaseCommit: "base"}
	parts := []cw.MergePart{{ProjectID: "a", Commit: "a1"}, {ProjectID: "b", Commit: "merged"}}
	rows := []cw.Integration{{ProjectID: "a", Head: "a0"}, {ProjectID: "b", Head: "head"}}
	for want, got := range map[string]string{
		"merged": siblingCommit(tree, parts, rows),
		"head":   siblingCommit(tree, parts[:1], rows),
		"base":   siblingCommit(tree, parts[:1], rows[:1]),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestCommandsOf: other projects are set up in their folders, and first.
func TestCommandsOf(t *testing.T) {
	t.Parallel()
	run := func(text string) cw.ProjectCommand { return cw.ProjectCommand{Name: text, Run: text} }
	all := []checkout{
		{name: "shop", file: cw.ProjectFile{Setup: []cw.ProjectCommand{run("npm ci")}, Checks: []cw.ProjectCommand{run("npm test")}, Env: map[string]string{"A": "shop"}}},
		{name: "it's", file: cw.ProjectFile{Setup: []cw.ProjectCommand{run("make")}, Checks: []cw.ProjectCommand{run("make test")}, Env: map[string]string{"A": "its", "B": "its"}}},
	}
	want := []cw.ProjectCommand{{Name: "it's: make", Run: "cd '../it'\\''s' || exit\nmake"}, run("npm ci"), run("npm test")}
	if diff := cmp.Diff(want, commandsOf(all)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"A": "shop", "B": "its"}, variablesOf(all)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], commandsOf(all[:1])); diff != "" {
		t.Error(diff)
	}
}
