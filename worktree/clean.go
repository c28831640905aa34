package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// Clean tells whether nothing of the agent's is in the worktree alone: all is
// committed and on the commit that is handed over. A worktree that is gone is
// not clean: there is nothing to remove.
func (l Look) Clean() bool { return !l.Missing && l.unclean() == "" }

// unclean names what would be lost with the worktree, "" for nothing.
func (l Look) unclean() string {
	switch {
	case len(l.Dirty) > 0:
		return some(l.Dirty) + " not committed"
	case len(l.Reserved) > 0:
		return some(l.Reserved) + " committed although it belongs to cw"
	case len(l.Ignored) > 0:
		return some(l.Ignored) + " made and ignored by git"
	case l.Parted:
		return "HEAD has commits that are not on the agent's branch"
	}
	return ""
}

// some names the first of several paths.
func some(paths []string) string {
	if len(paths) == 1 {
		return fmt.Sprintf("%q is", paths[0])
	}
	return fmt.Sprintf("%q and %d more are", paths[0], len(paths)-1)
}

// Alone tells what keeps RemoveClean from removing a worktree, "" for nothing.
func (m *Manager) Alone(ctx context.Context, req LookRequest) (what string, err error) {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return "", err
	}
	defer x.close()
	if _, err := x.ownRecord(req); err != nil {
		return "", err
	}
	_, what, err = x.keepsIt(ctx, req, req.Path)
	return what, err
}

// RemoveClean removes a worktree in which nothing is that is not committed, and
// keeps its branch. why says what keeps it from being removed, when something
// does; then it is where it was. Asked again it goes on after a killed try.
//
// git worktree remove is not used: it deletes ignored files without a look, and
// what is written between its look and its end. Here the folder is renamed
// first, then looked at once more, and only then deleted.
func (m *Manager) RemoveClean(ctx context.Context, req LookRequest) (removed bool, why string, err error) {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return false, "", err
	}
	defer x.close()
	r, err := x.ownRecord(req)
	if err != nil {
		return false, "", err
	}
	if !r.Removed {
		if why, err = x.setAside(ctx, req, r); err != nil || why != "" {
			return false, why, err
		}
	}
	if err := x.freeBranches(ctx, r); err != nil {
		return false, "", err
	}
	if err := x.dropAdmin(r); err != nil {
		return false, "", err
	}
	m.fail.Hit("worktree/unlocked")
	x.close() // others need not wait until all files are deleted
	if err := removeStubborn(asidePath(req.Path)); err != nil {
		return false, "", fmt.Errorf("remove worktree of %s: %w", req.Alias, err)
	}
	m.fail.Hit("worktree/removed")
	return true, "", nil
}

// ownRecord is the record of a worktree that must be the one asked for.
func (x *mirror) ownRecord(req LookRequest) (*record, error) {
	r, err := readRecord(x.dir, req.Alias)
	if err != nil {
		return nil, err
	}
	if r == nil || !r.Whole || r.Path != req.Path || r.AgentID != req.AgentID {
		return nil, cw.Errorf(cw.CodeNotFound, "agent %s has no worktree at %s", req.Alias, req.Path).
			WithHint("cw agent show %s tells where it is", req.Alias)
	}
	return r, nil
}

// asidePath is where a worktree lies for the moment between its last look and
// its end: beside its place, under a name that no agent has.
func asidePath(path string) string {
	return filepath.Join(filepath.Dir(path), asidePrefix+filepath.Base(path))
}

const asidePrefix = ".removing-"

// NameBeforeRemoval returns the name that a folder had before its removal began, or
// its own name when it is not being removed.
func NameBeforeRemoval(folder string) string { return strings.TrimPrefix(folder, asidePrefix) }

// setAside looks, moves the folder aside, looks again, and notes that it may
// go. Whatever keeps it brings it back.
func (x *mirror) setAside(ctx context.Context, req LookRequest, r *record) (why string, err error) {
	aside := asidePath(req.Path)
	if !exists(aside) {
		look, why, err := x.keepsIt(ctx, req, req.Path)
		if err != nil || why != "" {
			return why, err
		}
		if look.Tip != "" {
			if _, err := x.keepHead(ctx, req.AgentID, req.Alias, look.Tip); err != nil {
				return "", err
			}
		}
		if err := os.Rename(req.Path, aside); err != nil {
			return "", fmt.Errorf("move worktree of %s aside: %w", req.Alias, err)
		}
		x.m.fail.Hit("worktree/aside")
	}
	look, why, err := x.keepsIt(ctx, req, aside)
	if err != nil || why != "" {
		if exists(req.Path) && !isEmptyDir(req.Path) {
			return fmt.Sprintf("%s; it is at %s now, since there is something new at its place", why, aside), err
		}
		return why, errors.Join(err, moveDir(aside, req.Path))
	}
	if again, err := readRecord(x.dir, req.Alias); err != nil {
		return "", err
	} else if again != nil {
		*r = *again // keepHead wrote into it
	}
	r.Removed, r.Trash = true, ""
	r.remember(look)
	if err := x.partFrom(ctx, r); err != nil {
		return "", err
	}
	return "", x.writeRecord(*r)
}

// keepsIt tells what would be lost with the folder at dir, "" for nothing.
func (x *mirror) keepsIt(ctx context.Context, req LookRequest, dir string) (Look, string, error) {
	look, s, err := x.m.lookAt(ctx, req, dir, x.refs().commit)
	if err != nil {
		return look, "", err
	}
	defer s.close()
	switch {
	case x.m.guards.Off("look-again"):
		return look, "", nil
	case look.Missing:
		return look, "the worktree is gone", nil
	case look.unclean() != "":
		return look, look.unclean(), nil
	case underWay(s.admin) != "":
		return look, underWay(s.admin) + " is under way", nil
	}
	why, err := x.m.unseen(ctx, req, s)
	return look, why, err
}

// unseen looks for what git passes over without a word: repositories in tracked
// folders, folders that cannot be read, work in submodules.
func (m *Manager) unseen(ctx context.Context, req LookRequest, s *shadow) (why string, err error) {
	entries, err := s.status(ctx, ignoredArgs)
	if err != nil {
		return "", err
	}
	caches := map[string]bool{}
	for _, e := range entries {
		if e.Kind == statusIgnored && knownCache(e.Path) {
			caches[strings.TrimSuffix(e.Path, "/")] = true
		}
	}
	modules := map[string]bool{}
	links, err := s.gitlinks(ctx)
	if err != nil {
		return "", err
	}
	for name, e := range links {
		if modules[name] = exists(filepath.Join(s.worktree, name, ".git")); !modules[name] {
			continue
		}
		if why, err := m.submoduleWork(ctx, req.Project, s, name, e.id); err != nil || why != "" {
			return why, err
		}
	}
	root, err := os.OpenRoot(s.worktree)
	if err != nil {
		return "", err
	}
	defer root.Close()
	k := keeper{live: s}
	if err := k.ownLink(root); err != nil {
		return "its .git was replaced", nil
	}
	w := walker{
		root: root,
		skip: func(name string) bool { return caches[name] || modules[name] || reserved(name+"/") },
		file: func(string, fs.FileInfo) error { return nil },
		blocked: func(name string, obstacle obstacle) {
			switch obstacle {
			case nestedGit:
				why = fmt.Sprintf("%q is a repository of its own", name)
			case unreadable:
				why = fmt.Sprintf("%q cannot be read", name)
			}
		},
	}
	err = w.walk(ctx)
	return why, err
}

// gitlinks lists the submodules of HEAD.
func (s *shadow) gitlinks(ctx context.Context) (map[string]entry, error) {
	if s.head == "" {
		return nil, nil
	}
	tree, err := s.tree(ctx, s.head)
	if err != nil {
		return nil, err
	}
	links := map[string]entry{}
	for name, e := range tree {
		if e.mode == modeGitlink {
			links[name] = e
		}
	}
	return links, nil
}

// underWay names the operation that a worktree is in the middle of, "" for
// none. Its state is in the admin folder.
func underWay(admin string) string {
	for _, op := range [][2]string{
		{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"MERGE_HEAD", "a merge"}, {"CHERRY_PICK_HEAD", "a cherry-pick"},
		{"REVERT_HEAD", "a revert"}, {"sequencer", "a sequence of picks"}, {"BISECT_LOG", "a bisect"},
	} {
		if exists(filepath.Join(admin, op[0])) {
			return op[1]
		}
	}
	return ""
}

// dropAdmin removes the admin folder of a worktree that is no more. Its name
// may have gone to another worktree since.
func (x *mirror) dropAdmin(r *record) error {
	dir := filepath.Join(x.dir, "worktrees", r.Admin)
	if r.Admin == "" || !isDir(dir) {
		return nil
	}
	if ours, err := x.ownLinks(); err != nil || ours[r.Admin] != "" && !r.linked() {
		return err
	}
	text, err := readSmall(filepath.Join(dir, "gitdir"))
	if err == nil && !sameLink(string(text), r.Link) {
		return nil
	}
	return removeTree(dir)
}

// linked tells whether the admin folder of its name is the worktree's.
func (r record) linked() bool { return r.Whole && !r.Removed }

// moveDir renames a folder; an empty one in its place makes way.
func moveDir(from, to string) error {
	if isEmptyDir(to) {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// removeStubborn removes a folder with read-only folders in it. It follows no
// link.
func removeStubborn(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
