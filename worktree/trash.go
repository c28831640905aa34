package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"cw/internal/cw"
)

// MoveToTrash renames a worktree to the path to, and gives where it is then.
// Where to is on another file system it goes to the folder .trash beside the
// worktree instead, so that it is a rename all the same: nothing is copied and
// nothing can be half done. Its admin folder stays, locked, so that renaming it
// back makes it what it was. Asked again it gives the same answer. "" when the
// worktree is gone: there is nothing to lose. CodeNotFound when cw has no such
// worktree; CodeRefused when to is taken.
func (m *Manager) MoveToTrash(ctx context.Context, req LookRequest, to string) (path string, err error) {
	if !cleanPath(to) {
		return "", fmt.Errorf("trash of %s: %q is no clean absolute path", req.Alias, to)
	}
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return "", err
	}
	defer x.close()
	r, err := x.ownRecord(req)
	if err != nil {
		return "", err
	}
	if r.Trash != "" && isDir(r.Trash) && !exists(req.Path) {
		return r.Trash, x.freeBranches(ctx, r)
	}
	look, s, err := m.open(ctx, req, req.Path, x.refs().commit)
	if err != nil {
		return "", err
	}
	s.close()
	if look.Missing {
		return "", nil
	}
	r.remember(look)
	if err := x.partFrom(ctx, r); err != nil {
		return "", err
	}
	if path, err = x.toTrash(r, to); err != nil {
		return "", err
	}
	m.fail.Hit("worktree/trashed")
	return path, x.freeBranches(ctx, r)
}

// partFrom keeps what the worktrees of an agent that is being removed hold beside its
// branch, and notes which branches are to be freed.
func (x *mirror) partFrom(ctx context.Context, r *record) error {
	if _, err := x.keepEnds(ctx, r, ""); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// A damaged repository keeps nobody from removing an agent. Its branches stay.
		x.m.log.Warn("commits outside an agent's branch cannot be kept", "agent", r.Alias, "error", err)
		r.Freed = nil
		return nil
	}
	var err error
	r.Freed, err = x.branchesToFree(ctx, r)
	return err
}

// toTrash notes where the folder goes and renames it, to the wanted place or to
// the nearest.
func (x *mirror) toTrash(r *record, to string) (string, error) {
	near := filepath.Join(filepath.Dir(r.Path), ".trash", filepath.Base(to))
	for _, place := range []string{to, near} {
		if exists(place) {
			return "", cw.Errorf(cw.CodeRefused, "%s already exists", place).WithHint("move it away, and remove the agent again")
		}
		if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
			return "", fmt.Errorf("make trash for %s: %w", r.Alias, err)
		}
		r.Trash = place
		if err := x.writeRecord(*r); err != nil {
			return "", err
		}
		err := os.Rename(r.Path, place)
		if err == nil {
			return place, nil
		}
		if !errors.Is(err, syscall.EXDEV) {
			return "", cw.Errorf(cw.CodeFailed, "the worktree %s of %s cannot be moved", r.Path, r.Alias).
				WithHint("check the permissions of its folder; nothing was removed").Because(err)
		}
	}
	return "", cw.Errorf(cw.CodeFailed, "the worktree %s of %s is a file system of its own", r.Path, r.Alias).
		WithHint("unmount it, and remove the agent again")
}

// cleanPath tells an absolute path that has one spelling.
func cleanPath(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && !strings.ContainsAny(path, "\n\x00")
}

// PurgeRequest names a worktree in the trash.
type PurgeRequest struct {
	Project cw.Project
	AgentID cw.AgentID
	Alias   string
	Path    string // where it was
	Trash   string // as MoveToTrash gave it
}

// Purge deletes a worktree that lies in the trash, read-only folders too, and
// its admin folder. Branch and snapshots stay. One that is gone is no error.
// CodeRefused when cw did not put that folder there, or took it back.
func (m *Manager) Purge(ctx context.Context, req PurgeRequest) error {
	if !cleanPath(req.Trash) || req.Trash == req.Path {
		return fmt.Errorf("purge worktree of %s: %q is no trash", req.Alias, req.Trash)
	}
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return err
	}
	defer x.close()
	r, err := readRecord(x.dir, req.Alias)
	if err != nil {
		return err
	}
	// Renamed first: what is half deleted must not be taken for the worktree.
	half := req.Trash + ".purging"
	if exists(req.Trash) {
		if r == nil || r.AgentID != req.AgentID || r.Path != req.Path || r.Trash != req.Trash {
			return cw.Errorf(cw.CodeRefused, "%s is not a worktree of %s that cw moved there", req.Trash, req.Alias).
				WithHint("look at it, and remove it yourself if you do not need it")
		}
		if err := removeStubborn(half); err != nil {
			return notPurged(req, err)
		}
		if err := os.Rename(req.Trash, half); err != nil {
			return notPurged(req, err)
		}
		m.fail.Hit("worktree/purging")
	}
	if r != nil && r.AgentID == req.AgentID && r.Trash == req.Trash {
		if err := x.forgetFolder(ctx, r); err != nil {
			return notPurged(req, err)
		}
	}
	x.close() // others need not wait until all files are deleted
	if err := removeStubborn(half); err != nil {
		return notPurged(req, err)
	}
	m.fail.Hit("worktree/purged")
	return nil
}

func notPurged(req PurgeRequest, err error) error {
	return cw.Errorf(cw.CodeFailed, "the removed worktree %s of %s cannot be deleted", req.Trash, req.Alias).
		WithHint("delete it by hand").Because(err)
}

// forgetFolder notes that a worktree has no folder any more.
func (x *mirror) forgetFolder(ctx context.Context, r *record) error {
	if err := x.dropNested(ctx, r); err != nil {
		return err
	}
	r.Removed, r.Trash = true, ""
	if err := x.writeRecord(*r); err != nil {
		return err
	}
	return x.dropAdmin(r)
}
