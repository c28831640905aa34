package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// undo removes everything of a worktree that was never in an agent's hands, in
// whatever state a killed try left it: folder, admin folder, references and
// their locks, and at last the record. Repeating it is harmless.
func (x *mirror) undo(ctx context.Context, r record) error {
	if err := removeTree(r.Path); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/undone-folder")
	names, err := x.adminNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		dir := filepath.Join(x.dir, "worktrees", name)
		if r.Admin == name || x.madeFor(r, name, dir) {
			if err := removeTree(dir); err != nil {
				return err
			}
		}
	}
	x.m.fail.Hit("worktree/undone-admin")
	if err := x.undoRefs(ctx, r); err != nil {
		return err
	}
	x.m.fail.Hit("worktree/undone-refs")
	return x.dropRecord(r.Alias)
}

// madeFor tells whether an admin folder belongs to the worktree of a record
// that is not whole: it says so, or it is too young to say anything, was not
// there before, and has the name that git would have given it.
func (x *mirror) madeFor(r record, name, dir string) bool {
	text, err := readSmall(filepath.Join(dir, "gitdir"))
	if err == nil && len(text) > 0 {
		return sameLink(string(text), r.gitFile())
	}
	digits := strings.TrimPrefix(name, filepath.Base(r.Path))
	return !slices.Contains(r.Before, name) && digits != name && strings.Trim(digits, "0123456789") == ""
}

// sameLink compares two gitdir files. git writes the path it resolved, in which
// symbolic links are followed.
func sameLink(a, b string) bool {
	if a == b {
		return true
	}
	return resolved(a) == resolved(b)
}

// resolved follows the symbolic links of the folder that holds the worktree of
// a gitdir file; the worktree itself may be gone.
func resolved(gitFile string) string {
	worktree := filepath.Dir(strings.TrimSpace(gitFile))
	parent, err := filepath.EvalSymlinks(filepath.Dir(worktree))
	if err != nil {
		return worktree
	}
	return filepath.Join(parent, filepath.Base(worktree))
}

// undoRefs deletes the branch where it still is at the base, and the agent's
// own references.
func (x *mirror) undoRefs(ctx context.Context, r record) error {
	names := []string{agentRef(r.Alias), baseRef(r.AgentID), headRef(r.AgentID)}
	for _, name := range names {
		// Only a git of ours that is dead can have left it: the lock of the mirror
		// is held as long as one lives, and no agent had the branch.
		err := os.Remove(filepath.Join(x.dir, filepath.FromSlash(name)+".lock"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			x.m.log.Warn("lock of a reference stays", "ref", name, "error", err)
		}
	}
	var stdin strings.Builder
	for _, name := range names {
		id, err := x.refs().commit(ctx, name)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		if name == agentRef(r.Alias) && id != r.Base.Commit {
			return cw.Errorf(cw.CodeRefused, "branch %s has commits of its own", agentBranch(r.Alias)).
				WithHint("look at it: cw agent diff %s", r.Alias)
		}
		fmt.Fprintf(&stdin, "delete %s %s\n", name, id)
	}
	if stdin.Len() == 0 {
		return nil
	}
	if _, err := x.git(ctx, []byte(stdin.String()), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("delete references of %s: %w", r.Alias, err)
	}
	return nil
}

// Discard undoes Add for an agent whose CLI was never started. A worktree that
// is not there is no error. CodeRefused when it holds anything that cw did not
// put there: a commit, a changed or new file.
func (m *Manager) Discard(ctx context.Context, p cw.Project, alias, path string) error {
	x, err := m.openMirror(ctx, p)
	if cw.ErrorCode(err) == cw.CodeNotFound && !exists(path) {
		return nil
	}
	if err != nil {
		return err
	}
	defer x.close()
	r, err := readRecord(x.dir, alias)
	if err != nil {
		return err
	}
	if r == nil {
		if exists(path) && !isEmptyDir(path) {
			return cw.Errorf(cw.CodeRefused, "%s is not a worktree that cw made", path).WithHint("remove it yourself if you do not need it")
		}
		return nil
	}
	if r.Path != path {
		return taken(alias)
	}
	if r.Whole && isDir(path) {
		if err := x.onlyOurs(ctx, *r); err != nil {
			return err
		}
	}
	return x.undo(ctx, *r)
}

// onlyOurs refuses a worktree in which somebody worked.
func (x *mirror) onlyOurs(ctx context.Context, r record) error {
	req := LookRequest{Project: x.p, AgentID: r.AgentID, Alias: r.Alias, Path: r.Path, BaseCommit: r.Base.Commit, Included: r.Included}
	look, s, err := x.m.look(ctx, req, x.refs().commit)
	if err != nil {
		return err
	}
	defer s.close()
	if look.Head != r.Base.Commit || len(look.Notes) > 0 {
		return worked(r, strings.Join(append([]string{"HEAD is at " + look.Head}, look.Notes...), "; "))
	}
	if r.SetUp {
		return nil // no agent was in it yet: the rest is what the project's commands made
	}
	if len(look.Dirty) > 0 {
		return worked(r, fmt.Sprintf("%q was changed", look.Dirty[0]))
	}
	ignored, err := s.status(ctx, "--ignored=traditional")
	if err != nil {
		return fmt.Errorf("look at worktree of %s: %w", r.Alias, err)
	}
	for _, e := range ignored {
		if _, copied := r.Included[e.Path]; e.Kind != statusIgnored || copied || ownInput(e.Path) {
			continue
		}
		return worked(r, fmt.Sprintf("%q is new", e.Path))
	}
	return nil
}

func worked(r record, what string) error {
	return cw.Errorf(cw.CodeRefused, "the worktree %s of %s holds work: %s", r.Path, r.Alias, what).
		WithHint("look at it before you remove it")
}

// ownInput are the folders that cw fills before a CLI starts.
func ownInput(path string) bool {
	return strings.HasPrefix(path, ".cw/input/") || strings.HasPrefix(path, ".cw/tmp/")
}
