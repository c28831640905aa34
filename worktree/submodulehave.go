package worktree

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"cw/internal/cw"
)

// submodulesMissing says which commits of submodules the commit names that the
// user's copies of them do not have: without these nobody can check the branch
// out whole. The base of the agent is left out, as the user has that already.
func (x *mirror) submodulesMissing(ctx context.Context, alias, head string) (notes []string, err error) {
	r, err := readRecord(x.dir, alias)
	if err != nil || r == nil {
		return nil, err
	}
	now, err := x.gitlinks(ctx, head)
	if err != nil || len(now) == 0 {
		return nil, err
	}
	ids, err := x.gitlinkIDs(ctx, head)
	if err != nil {
		return nil, err
	}
	was, err := x.gitlinkIDs(ctx, r.Base.Commit)
	if err != nil {
		return nil, err
	}
	links := map[string]gitlink{}
	for _, l := range now {
		links[l.path] = l
	}
	modules := userModules(x.p.GitDir)
	for _, path := range slices.Sorted(maps.Keys(ids)) {
		id := ids[path]
		have := slices.ContainsFunc(modulesAt(x.p, modules, links[path]), func(dir string) bool { return x.m.hasObject(ctx, dir, id) })
		if was[path] == id || have {
			continue
		}
		notes = append(notes, fmt.Sprintf("the branch names commit %.12s of submodule %q, which is not in your copy of it; as long as the agent's worktree is there: git -C %s fetch %s HEAD",
			id, path, cw.ShellWord(path), cw.ShellWord(filepath.Join(r.Path, path))))
	}
	return notes, nil
}

// gitlinkIDs gives path → commit of the submodules of a commit.
func (x *mirror) gitlinkIDs(ctx context.Context, commit string) (map[string]string, error) {
	out, err := x.git(ctx, nil, treeArgs(commit)...)
	if err != nil {
		return nil, err
	}
	tree, err := parseTree(out)
	ids := map[string]string{}
	for path, e := range tree {
		if e.mode == modeGitlink {
			ids[path] = e.id
		}
	}
	return ids, err
}

// hasObject reports whether the user's copy of a submodule has a commit. gitDir ""
// is none.
func (m *Manager) hasObject(ctx context.Context, gitDir, id string) bool {
	_, err := m.git.run(ctx, inUserRepo(gitDir), nil, "cat-file", "-e", id+"^{commit}")
	return err == nil
}
