package worktree

import (
	"fmt"
	"os"
	"path/filepath"

	"cw/internal/cw"
)

// CommitDirs gives the folders of the mirror that a commit in an agent's
// worktree writes to: the worktree's own admin folder, objects, refs and logs.
// They are all there when it returns, also where git has made no logs yet: in a
// sandbox it could not. Configuration and hooks are in none of them. It asks the record, not the worktree, where an
// agent could have put another name. A worktree that is not whole is an error.
func (m *Manager) CommitDirs(p cw.Project, alias string) ([]string, error) {
	mirror, err := m.mirrorDir(p)
	if err != nil {
		return nil, err
	}
	r, err := readRecord(mirror, alias)
	if err != nil {
		return nil, err
	}
	if r == nil || !r.Whole {
		return nil, fmt.Errorf("the worktree of %s in %s is not whole", alias, p.Name)
	}
	dirs := []string{
		filepath.Join(mirror, "worktrees", r.Admin),
		filepath.Join(mirror, "objects"), filepath.Join(mirror, "refs"), filepath.Join(mirror, "logs"),
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make %s: %w", dir, err)
		}
	}
	return dirs, nil
}
