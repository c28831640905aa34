package worktree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// LookRequest names a worktree and what is known of it.
type LookRequest struct {
	Project    cw.Project
	AgentID    cw.AgentID
	Alias      string
	Path       string            // the worktree
	BaseCommit string            // full id
	Included   map[string]string // as Add gave it
}

// Look is the state of a worktree as it was found.
type Look struct {
	Head     string   // commit; "" when HEAD names a branch that does not exist
	Branch   string   // short name as found, may differ from agent/<alias>; "" when detached
	Tip      string   // commit that holds the agent's work: Head, or its branch where that is ahead
	Commits  int      // from the base to Tip
	Dirty    []string // changed and untracked files, raw bytes, in order; a nested repository is one entry ending in a slash
	Reserved []string // paths in cw's own folders that were committed all the same
	Ignored  []string // ignored files that the agent made or changed, outside of known caches; a folder of them is one entry ending in a slash
	Stat     cw.Stat  // of the commits
	Missing  bool     // there is no worktree at the path
	Parted   bool     // HEAD holds commits that Tip does not
	Notes    []string // what is out of the ordinary, for people
}

// Work tells whether there is work that is in no commit, or in a commit where
// it must not be.
func (l Look) Work() bool { return len(l.Dirty) > 0 || len(l.Reserved) > 0 }

// Look tells what an agent did in its worktree. Nothing that the agent may
// have planted is executed, and nothing is changed. It may run beside a live
// agent. CodeNotFound when cw has no such worktree; CodeTimeout when something
// in it makes git wait.
func (m *Manager) Look(ctx context.Context, req LookRequest) (Look, error) {
	look, s, err := m.look(ctx, req, m.mirrorCommit(req.Project))
	if err != nil {
		return Look{}, err
	}
	s.close()
	return look, nil
}

// readRef gives the commit of a reference of the mirror, "" when there is none.
type readRef func(ctx context.Context, ref string) (string, error)

// look is Look that leaves its shadow open for more questions.
func (m *Manager) look(ctx context.Context, req LookRequest, ref readRef) (Look, *shadow, error) {
	return m.lookAt(ctx, req, req.Path, ref)
}

// lookAt is look for a worktree that was moved to dir.
func (m *Manager) lookAt(ctx context.Context, req LookRequest, dir string, ref readRef) (Look, *shadow, error) {
	look, s, err := m.open(ctx, req, dir, ref)
	if err != nil {
		return Look{}, nil, err
	}
	if err := s.measure(ctx, req.Included, &look); err != nil {
		s.close()
		return Look{}, nil, fmt.Errorf("look at worktree of %s: %w", req.Alias, err)
	}
	return look, s, nil
}

// open finds out what the worktree at dir stands on, and leaves its files for
// the shadow to look at.
func (m *Manager) open(ctx context.Context, req LookRequest, dir string, ref readRef) (Look, *shadow, error) {
	found, err := m.find(ctx, req, dir, ref)
	if err != nil {
		return Look{}, nil, err
	}
	look := found.look
	s := &shadow{m: m, mirrorDir: found.mirrorDir, admin: found.admin, worktree: dir, home: req.Path, base: req.BaseCommit, head: look.Head}
	if look.Missing {
		s.worktree = ""
	}
	if err := s.make(ctx); err != nil {
		return Look{}, nil, fmt.Errorf("look at worktree of %s: %w", req.Alias, err)
	}
	if err := s.findTip(ctx, found.branch, &look); err != nil {
		s.close()
		return Look{}, nil, fmt.Errorf("look at worktree of %s: %w", req.Alias, err)
	}
	return look, s, nil
}

// measure fills in what only git can tell.
func (s *shadow) measure(ctx context.Context, included map[string]string, look *Look) error {
	if s.worktree != "" {
		entries, err := s.status(ctx, ignoredArgs)
		if err != nil {
			return err
		}
		root, err := os.OpenRoot(s.worktree)
		if err != nil {
			return err
		}
		defer root.Close()
		look.Dirty = dirtyPaths(root, entries, included)
		if look.Ignored, err = ignoredWork(ctx, root, entries, unchangedMarks(root, included)); err != nil {
			return fmt.Errorf("look at ignored files: %w", err)
		}
	}
	return s.commits(ctx, look)
}

// findTip decides which commit holds the work. An agent may commit on another
// branch or on a detached HEAD, and it may leave its branch to look at
// something: whichever contains the other is taken. Where they have parted, the
// agent's own branch is, and that is said.
func (s *shadow) findTip(ctx context.Context, branch string, look *Look) error {
	look.Tip = cmp.Or(branch, look.Head)
	if branch != "" && look.Head != "" && branch != look.Head {
		ahead, err := s.contains(ctx, look.Head, branch)
		if err != nil {
			return err
		}
		behind, err := s.contains(ctx, branch, look.Head)
		if err != nil {
			return err
		}
		switch {
		case ahead:
			look.Tip = look.Head
		case !behind:
			look.Parted = true
			look.Notes = append(look.Notes, fmt.Sprintf("the worktree's HEAD %.9s and the agent's branch have parted; the branch is taken, HEAD stays in the worktree", look.Head))
		}
	}
	s.tip = look.Tip
	return nil
}

// contains tells whether a commit has another among its ancestors.
func (s *shadow) contains(ctx context.Context, commit, ancestor string) (bool, error) {
	_, err := s.git(ctx, "merge-base", "--is-ancestor", "--end-of-options", ancestor, commit)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// foundWorktree is what can be said without running git.
type foundWorktree struct {
	mirrorDir string
	admin     string
	branch    string // commit of agent/<alias>, "" when there is none
	look      Look
}

// find reads HEAD and the state of the worktree's folder as data.
func (m *Manager) find(ctx context.Context, req LookRequest, dir string, ref readRef) (foundWorktree, error) {
	mirrorDir, err := m.mirrorDir(req.Project)
	if err != nil {
		return foundWorktree{}, err
	}
	if !fullID().MatchString(req.BaseCommit) {
		return foundWorktree{}, fmt.Errorf("base of %s: %q is no full id", req.Alias, req.BaseCommit)
	}
	r, err := readRecord(mirrorDir, req.Alias)
	if err != nil {
		return foundWorktree{}, err
	}
	if r == nil || !r.Whole || r.Path != req.Path || r.AgentID != req.AgentID {
		return foundWorktree{}, cw.Errorf(cw.CodeNotFound, "agent %s has no worktree at %s", req.Alias, req.Path).
			WithHint("cw agent show %s tells where it is", req.Alias)
	}
	f := foundWorktree{mirrorDir: mirrorDir, admin: filepath.Join(mirrorDir, "worktrees", r.Admin)}
	if r.Removed {
		f.look.Missing = true
		return f, f.headOf(ctx, req.Alias, r.Branch, r.Head, r.freed(ref))
	}
	if err := f.folder(req, dir, r.DotGit); err != nil {
		return foundWorktree{}, err
	}
	return f, f.head(ctx, req.Alias, ref)
}

// folder looks at the worktree's folder itself.
func (f *foundWorktree) folder(req LookRequest, dir, dotGit string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		f.look.Missing = true
		f.note("the worktree %s is gone", dir)
		return nil
	case info.Mode()&os.ModeSymlink != 0, !info.IsDir():
		return cw.Errorf(cw.CodeFailed, "the worktree %s of %s is not a folder any more", dir, req.Alias).
			WithHint("something was put in its place; look at it and move it away")
	}
	if text, err := readSmall(filepath.Join(dir, ".git")); err != nil || string(text) != dotGit {
		f.note("the file .git of the worktree was changed; what git says inside it may be about another repository")
	}
	return nil
}

// head resolves HEAD. A branch that does not exist leaves it "".
func (f *foundWorktree) head(ctx context.Context, alias string, commit readRef) error {
	ref, id, err := adminHead(f.admin)
	if err != nil {
		// Its admin folder is damaged. The branch in the mirror still tells what
		// was committed.
		f.note("%v; the branch is looked at instead", err)
		ref = agentRef(alias)
	}
	return f.headOf(ctx, alias, ref, id, commit)
}

// headOf notes a HEAD: the full name of its branch, or its commit.
func (f *foundWorktree) headOf(ctx context.Context, alias, ref, id string, commit readRef) error {
	var err error
	if ref != "" {
		f.look.Branch = strings.TrimPrefix(ref, "refs/heads/")
		if id, err = commit(ctx, ref); err != nil {
			return err
		}
		if id == "" {
			f.note("branch %s does not exist", f.look.Branch)
		}
	}
	if f.branch, err = commit(ctx, agentRef(alias)); err != nil {
		return err
	}
	if f.look.Branch != agentBranch(alias) {
		f.note("the worktree is on %s, not on %s", orDetached(f.look.Branch), agentBranch(alias))
	}
	f.look.Head = id
	return nil
}

func (f *foundWorktree) note(format string, args ...any) {
	f.look.Notes = append(f.look.Notes, fmt.Sprintf(format, args...))
}

func orDetached(branch string) string {
	if branch == "" {
		return "a detached HEAD"
	}
	return branch
}

// mirrorCommit reads references of a mirror that is not locked. The lock and
// the guard are needed only when go-git cannot.
func (m *Manager) mirrorCommit(p cw.Project) readRef {
	return func(ctx context.Context, ref string) (string, error) {
		dir, err := m.mirrorDir(p)
		if err != nil {
			return "", err
		}
		return mirrorRefs(dir, func(ctx context.Context, args ...string) ([]byte, error) {
			x, err := m.openMirror(ctx, p)
			if err != nil {
				return nil, err
			}
			defer x.close()
			return x.git(ctx, nil, args...)
		}).commit(ctx, ref)
	}
}

// agentBranch is the branch of an agent; agentRef its full name.
func agentBranch(alias string) string { return "agent/" + alias }
func agentRef(alias string) string    { return "refs/heads/" + agentBranch(alias) }

// commits counts and measures what was committed since the base.
func (s *shadow) commits(ctx context.Context, look *Look) error {
	if s.tip == "" || s.tip == s.base {
		return nil
	}
	out, err := s.git(ctx, "rev-list", "--count", "--end-of-options", s.base+".."+s.tip)
	if err != nil {
		return err
	}
	if look.Commits, err = strconv.Atoi(line(out)); err != nil {
		return fmt.Errorf("count commits: %w", err)
	}
	files, err := s.numstat(ctx)
	if err != nil {
		return err
	}
	for _, f := range files {
		look.Stat.Files++
		look.Stat.Additions += f.additions
		look.Stat.Deletions += f.deletions
		for _, path := range []string{f.path, f.from} {
			if path != "" && reserved(path) {
				look.Reserved = append(look.Reserved, path)
			}
		}
	}
	slices.Sort(look.Reserved)
	return nil
}

// dirtyPaths picks from a status what is the agent's work: nothing that is as the
// baseline has it, and in addition files of the baseline that git ignores and
// that are no longer as noted.
func dirtyPaths(root *os.Root, entries []statusEntry, noted map[string]string) []string {
	dirty := changedMarks(root, entries, noted)
	for _, e := range entries {
		// What lies in cw's own folders is no work, also where a repository
		// tracks it by mistake; commits that touch it are told as Reserved.
		if e.Kind == statusIgnored || reserved(e.Path) || e.asNoted(root, noted) {
			continue
		}
		dirty = append(dirty, e.Path)
		if e.From != "" {
			dirty = append(dirty, e.From)
		}
	}
	slices.Sort(dirty)
	return slices.Compact(dirty)
}

// hashFile gives the SHA-256 of a regular file; whatever else stands there is
// an error.
func hashFile(root *os.Root, path string) (string, error) {
	f, err := safefile.OpenLinkedIn(root, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, includeMaxBytes+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
