package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
)

// MergeRequest asks for the commit that merging would make.
type MergeRequest struct {
	Project     cw.Project
	Onto, Head  string // full ids of commits in the mirror: head comes onto onto
	Strategy    cw.MergeStrategy
	Message     string    // of the commit
	Name, Email string    // of author and committer
	At          time.Time // of both, to the second
}

// MergeResult is what merging gives.
type MergeResult struct {
	Commit string // "" with conflicts; Onto when it is up to date
	Tree   string // of Commit, or, with conflicts, the tree with markers in its files
	// UpToDate tells that there is nothing to merge: Onto has Head already, or, for
	// a squash, all that Head changes.
	UpToDate    bool
	FastForward bool // Head has Onto among its ancestors; a commit is made all the same
	Conflicts   []cw.MergeConflict
}

// TryMerge makes the commit that merges one commit onto another, and moves no
// branch. The same request gives the same commit. Nothing but new objects is
// written; no index and no worktree is used, no command that configuration or
// attributes name is run, and of attributes those of Onto count, as in a
// checkout of it. Pointers of submodules that both sides moved are a conflict.
// Conflicts are an answer and no error. CodeNotFound when the mirror does not
// have one of the commits, CodeRefused when they have no ancestor in common.
//
// The commit hangs on no reference: keep it soon (MoveIntegration).
func (m *Manager) TryMerge(ctx context.Context, req MergeRequest) (MergeResult, error) {
	if err := req.valid(); err != nil {
		return MergeResult{}, err
	}
	if _, err := m.GitVersion(ctx); err != nil {
		return MergeResult{}, err
	}
	c, err := m.openCommits(ctx, req.Project, req.Onto, req.Head)
	if err != nil {
		return MergeResult{}, err
	}
	defer c.close()
	r, err := c.merge(ctx, req)
	if err != nil {
		return MergeResult{}, fmt.Errorf("merge %.12s onto %.12s: %w", req.Head, req.Onto, err)
	}
	return r, nil
}

func (r MergeRequest) valid() error {
	switch {
	case r.Strategy != cw.MergeCommit && r.Strategy != cw.MergeSquash:
		return cw.Errorf(cw.CodeInvalid, "%q is no merge strategy", r.Strategy).WithHint("one of merge, squash")
	case r.Name == "" || r.Email == "" || r.Message == "" || r.At.IsZero():
		return fmt.Errorf("merge %s: name, address, message and time are needed", r.Head)
	}
	return nil
}

func (c *commitPair) merge(ctx context.Context, req MergeRequest) (MergeResult, error) {
	upToDate := MergeResult{Commit: req.Onto, Tree: c.baseTree, UpToDate: true}
	common, err := c.mergeBase(ctx)
	switch {
	case err != nil:
		return MergeResult{}, err
	case common == "":
		return MergeResult{}, cw.Errorf(cw.CodeRefused, "commits %.12s and %.12s have no ancestor in common", req.Onto, req.Head).
			WithHint("begin the work again from the branch that it is for")
	case common == req.Head:
		return upToDate, nil
	}
	r := MergeResult{FastForward: common == req.Onto}
	out, clean, err := c.mergeTree(ctx)
	if err != nil {
		return MergeResult{}, err
	}
	found, err := parseMergeTree(out)
	if err != nil {
		return MergeResult{}, err
	}
	r.Tree = found.tree
	if !clean {
		r.Conflicts, err = c.conflicts(ctx, found)
		return r, err
	}
	parents := []string{req.Onto, req.Head}
	if req.Strategy == cw.MergeSquash {
		if r.Tree == c.baseTree {
			return upToDate, nil
		}
		parents = parents[:1]
	}
	r.Commit, err = c.commitMerge(ctx, r.Tree, parents, req)
	return r, err
}

// mergeTree runs the merge. It is clean, or out tells the conflicts.
func (c *commitPair) mergeTree(ctx context.Context) (out []byte, clean bool, err error) {
	folder := filepath.Join(c.dir, "tree")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, false, err
	}
	if err := c.layAttributes(ctx, c.baseTree, folder); err != nil {
		return nil, false, err
	}
	at := c.durable()
	at.dir = folder
	at.env = append(at.env, "GIT_WORK_TREE="+folder)
	out, err = c.m.git.run(ctx, at, nil, "merge-tree", "--write-tree", "-z", "--messages", c.base, c.head)
	if exitCode(err) == 1 && len(out) > 0 {
		return out, false, nil
	}
	return out, err == nil, err
}

// durable is where objects are written that must be on the disk when git ends.
func (c *commitPair) durable() place {
	at := c.place()
	at.config = append(at.config, "core.fsync=committed")
	at.limit = transferLimit
	return at
}

func (c *commitPair) commitMerge(ctx context.Context, tree string, parents []string, req MergeRequest) (string, error) {
	at := c.durable()
	date := fmt.Sprintf("@%d +0000", req.At.Unix())
	at.env = append(at.env,
		"GIT_AUTHOR_NAME="+req.Name, "GIT_AUTHOR_EMAIL="+req.Email, "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME="+req.Name, "GIT_COMMITTER_EMAIL="+req.Email, "GIT_COMMITTER_DATE="+date)
	at.config = append(at.config, "i18n.commitEncoding=UTF-8")
	args := []string{"commit-tree"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	message := strings.TrimRight(req.Message, "\n") + "\n"
	out, err := c.m.git.run(ctx, at, []byte(message), append(args, tree)...)
	return line(out), err
}
