package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// submoduleWork tells what an agent did in a submodule, "" for nothing. The
// user's own copy of the submodule is what counts as known: id is the commit
// that HEAD names for it.
func (m *Manager) submoduleWork(ctx context.Context, p cw.Project, s *shadow, name, id string) (why string, err error) {
	dir := filepath.Join(s.worktree, name)
	module, copies := m.moduleDirs(p, s, name)
	if len(copies) == 0 {
		return fmt.Sprintf("%q is a repository of its own", name), nil
	}
	if branch, at, err := adminHead(module); err != nil || branch != "" || at != id {
		return fmt.Sprintf("submodule %q is not where it was", name), nil
	}
	if underWay(module) != "" || nestedIn(ctx, dir) {
		return fmt.Sprintf("submodule %q holds work", name), nil
	}
	users, err := m.knowing(ctx, copies, module, id)
	if err != nil || users == "" {
		return fmt.Sprintf("submodule %q has commits of its own", name), err
	}
	inner := &shadow{m: m, mirrorDir: s.mirrorDir, admin: module, objects: filepath.Join(users, "objects"), worktree: dir, base: id, head: id}
	if err := inner.make(ctx); err != nil {
		return "", err
	}
	defer inner.close()
	entries, err := inner.status(ctx, ignoredArgs)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(entries, func(e statusEntry) bool { return e.Kind != statusIgnored || !knownCache(e.Path) }) {
		return fmt.Sprintf("submodule %q holds work", name), nil
	}
	return "", nil
}

// moduleDirs gives the git directory of a submodule in a worktree, which must
// lie where git made it, and those of the user's copies.
// The link to it is relative to where the worktree belongs.
func (m *Manager) moduleDirs(p cw.Project, s *shadow, name string) (module string, copies []string) {
	text, err := readSmall(filepath.Join(s.worktree, name, ".git"))
	target, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
	if err != nil || !ok {
		return "", nil
	}
	real, err := filepath.EvalSymlinks(absoluteIn(filepath.Join(s.home, name), target))
	if err != nil {
		return "", nil
	}
	modules, err := filepath.EvalSymlinks(filepath.Join(s.admin, "modules"))
	if err != nil || !inside(modules, real) {
		return "", nil
	}
	module, err = filepath.Rel(modules, real)
	if err != nil {
		return "", nil
	}
	return real, modulesAt(p, userModules(p.GitDir), gitlink{path: name, name: module})
}

// knowing gives the user's copy that knows all that a submodule in a worktree
// names, "" when there is none.
func (m *Manager) knowing(ctx context.Context, copies []string, module, id string) (string, error) {
	for _, users := range copies {
		if known, err := m.knowsAll(ctx, users, module, id); err != nil || known {
			return users, err
		}
	}
	return "", nil
}

// nestedIn tells whether there is a git directory below a submodule.
func nestedIn(ctx context.Context, dir string) (found bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return true
	}
	defer root.Close()
	w := walker{
		root:    root,
		skip:    func(string) bool { return found },
		file:    func(string, fs.FileInfo) error { return nil },
		blocked: func(_ string, why obstacle) { found = found || why == nestedGit || why == unreadable },
	}
	return w.walk(ctx) != nil || found
}

// knowsAll tells whether the user's copy has a commit and every other one that
// a reference of the submodule in the worktree names.
func (m *Manager) knowsAll(ctx context.Context, users, module, id string) (bool, error) {
	var ids strings.Builder
	ids.WriteString(id + "\n")
	add := func(text []byte) {
		for word := range strings.FieldsSeq(string(text)) {
			if id := strings.TrimPrefix(word, "^"); fullID().MatchString(id) {
				ids.WriteString(id + "\n")
			}
		}
	}
	if text, err := readSmall(filepath.Join(module, "packed-refs")); err == nil {
		add(text)
	}
	err := filepath.WalkDir(filepath.Join(module, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = readSmall(path)
			add(text)
		}
		return err
	})
	if err != nil {
		return false, nil // whatever cannot be read may be work
	}
	at := place{name: "user", dir: users, env: append(cleanEnv(), "GIT_DIR="+users)}
	out, err := m.git.run(ctx, at, []byte(ids.String()), "cat-file", "--batch-check=%(objecttype)")
	return err == nil && !strings.Contains(string(out), " missing"), err
}
