package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestDropLocks: only what is old, and the agent's own, goes.
func TestDropLocks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a, other := l.add("brave-otter"), l.add("calm-heron")
	dead := time.Now().Add(-time.Minute)
	lock := func(name string, at time.Time) string {
		path := filepath.Join(a.mirror(), name)
		write(t, filepath.Dir(path), filepath.Base(path), "")
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, young := dead.Add(-time.Second), dead.Add(time.Second)
	gone := []string{lock("worktrees/brave-otter/index.lock", old), lock("refs/heads/agent/brave-otter.lock", old)}
	stay := []string{
		lock("worktrees/brave-otter/HEAD.lock", young), lock("worktrees/calm-heron/index.lock", old), lock("packed-refs.lock", old),
	}
	if err := a.m.DropLocks(a.lookRequest(), dead); err != nil {
		t.Fatal(err)
	}
	// Of an agent that has no worktree nothing is known.
	stranger := other.lookRequest()
	stranger.AgentID = a.req.AgentID
	if err := a.m.DropLocks(stranger, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Concat(gone, stay) {
		if there, want := exists(path), slices.Contains(stay, path); there != want {
			t.Errorf("%s is there: %v, want %v", path, there, want)
		}
	}
}
