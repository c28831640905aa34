package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"cw/internal/cw"
)

// TestCWInALoginShell: claude keeps a copy of the shell's settings, for which it waits
// 10 s; without one it runs commands in a login shell, whose profile sets PATH anew.
// The agent finds cw all the same.
func TestCWInALoginShell(t *testing.T) {
	t.Parallel()
	l, _ := newLab(t, claude, done)
	home := filepath.Dir(l.Repo)
	must(t, os.WriteFile(filepath.Join(home, ".bashrc"), []byte("exit 1\n"), 0o600)) // then there is no copy
	must(t, os.WriteFile(filepath.Join(home, ".profile"), []byte("PATH=/usr/local/bin:/usr/bin:/bin\n"), 0o600))
	a, stderr, code := claude.run(t, l, goal)
	if code != 0 || a.Agent.Status != cw.StatusIdle || a.Commits != 1 {
		t.Fatalf("exit %d, status %s (%s %s), %d commits\n%s\n%s", code, a.Agent.Status, a.Agent.Reason, a.Agent.Error, a.Commits, stderr, l.DaemonLog())
	}
}
