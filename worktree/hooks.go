package worktree

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// Hooks are those of a repository that run when somebody commits in it.
type Hooks struct {
	// Dir is where git looks for them, as the value of core.hooksPath: relative to
	// the top of a worktree, or absolute. "": there are none.
	Dir string
	// Names are the hooks that are there: pre-commit and so on.
	Names []string
}

// commitHooks decide what is committed. Others do not keep a commit clean.
func commitHooks() []string {
	return []string{"pre-commit", "prepare-commit-msg", "commit-msg", "pre-merge-commit"}
}

// hookMax is how much of a hook is read.
const hookMax = 64 << 10

// Hooks finds the hooks that a commit in the user's checkout runs: in the folder
// that the repository's own core.hooksPath names, else in its git directory. Those
// of git-lfs do not count, as cw does what they do. What cannot be read is none.
func (m *Manager) Hooks(ctx context.Context, p cw.Project, checkout string) Hooks {
	if p.Remote() || checkout == "" {
		return Hooks{}
	}
	h := Hooks{Dir: filepath.Join(p.GitDir, "hooks")}
	out, err := m.git.run(ctx, inCheckout(checkout), nil, "config", "--local", "--type=path", "--get", "core.hooksPath")
	if value := strings.TrimSuffix(string(out), "\n"); err == nil && value != "" {
		h.Dir = hooksIn(value, checkout, p.Path)
	}
	dir := h.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(checkout, dir)
	}
	for _, name := range commitHooks() {
		if isHook(filepath.Join(dir, name)) {
			h.Names = append(h.Names, name)
		}
	}
	if len(h.Names) == 0 {
		return Hooks{}
	}
	return h
}

// hooksIn gives a folder of hooks as a worktree has it: one that lies in a
// checkout of the user's is the same folder of the worktree.
func hooksIn(dir string, checkouts ...string) string {
	if !filepath.IsAbs(dir) {
		return dir
	}
	for _, top := range checkouts {
		if rel, err := filepath.Rel(top, dir); top != "" && err == nil && filepath.IsLocal(rel) && !hasGitDir(filepath.ToSlash(rel)) {
			return rel
		}
	}
	return dir
}

// isHook tells whether git would run a file as a hook that is not git-lfs's.
func isHook(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return false
	}
	if info.Size() > hookMax {
		return true
	}
	text, err := safefile.ReadLinked(name, hookMax)
	return err == nil && !bytes.Contains(text, []byte("git lfs ")) && !bytes.Contains(text, []byte("git-lfs "))
}

// SettingUp says that commands of the project that a person trusted are about to
// run in one of its worktrees. What they change in git's configuration is put
// back, as it would count for all worktrees, and nobody is told that somebody
// tampered with it. over is called when they have ended.
func (m *Manager) SettingUp(ctx context.Context, p cw.Project) (over func()) {
	m.setUps.add(p.ID, 1)
	return func() {
		if x, err := m.openMirror(ctx, p); err == nil {
			if err := x.guard(); err != nil {
				m.log.Warn("put back what a set-up changed", "project", p.Name, "error", err)
			}
			x.close()
		}
		m.setUps.add(p.ID, -1)
	}
}

// bySetUp parts what was restored in a mirror: what trusted commands may have
// changed that run now, and the rest.
func (m *Manager) bySetUp(p cw.Project, changed []string) (theirs, rest []string) {
	if !m.setUps.any(p.ID) {
		return nil, changed
	}
	for _, name := range changed {
		if strings.HasPrefix(name, "worktrees") || strings.HasPrefix(name, "refs/") || name == fileHead {
			rest = append(rest, name)
			continue
		}
		theirs = append(theirs, name)
	}
	return theirs, rest
}
