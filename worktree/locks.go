package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// DropLocks removes what a git of the agent left that was killed in the middle
// of its work: it would keep the next git from working there, the person's own
// too. Whatever the agent ran must be dead, and have been so at that time; a
// lock that is younger is somebody's. A worktree that is not there has none.
func (m *Manager) DropLocks(req LookRequest, dead time.Time) error {
	mirrorDir, err := m.mirrorDir(req.Project)
	if err != nil {
		return err
	}
	r, err := readRecord(mirrorDir, req.Alias)
	if err != nil || r == nil || !r.Whole || r.AgentID != req.AgentID {
		return err
	}
	return m.dropLocks(mirrorDir, *r, dead)
}

// dropLocks removes the locks of a worktree that are not younger than dead. Times
// of files move in steps of some milliseconds, in which an agent can write a lock
// and die.
func (m *Manager) dropLocks(mirrorDir string, r record, dead time.Time) error {
	admin := filepath.Join(mirrorDir, "worktrees", r.Admin)
	for _, lock := range []string{
		filepath.Join(admin, "index.lock"), filepath.Join(admin, "HEAD.lock"),
		filepath.Join(mirrorDir, filepath.FromSlash(agentRef(r.Alias))+".lock"),
	} {
		info, err := os.Lstat(lock)
		if err != nil || !info.Mode().IsRegular() || info.ModTime().After(dead) {
			continue // there is none, or somebody has it now
		}
		if err := os.Remove(lock); err != nil {
			return fmt.Errorf("remove a lock that a killed git left: %w", err)
		}
		m.log.Info("removed a lock that a killed git left", "agent", r.Alias, "lock", lock)
	}
	return nil
}
