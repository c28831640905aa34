package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// DiffCommits tells what a commit changed since it parted from another, like git
// diff BASE...HEAD: the difference to their common ancestor (to base itself when
// there is none), and the commits that head has and base does not, newest first.
// Both are full ids of commits in the mirror; no worktree is needed. What the
// request says of the project and of sides is the caller's business. CodeInvalid as
// DiffRequest.Check; CodeNotFound when the mirror does not have one of them, and for
// a path that names nothing; CodeFailed when the patch is too large.
func (m *Manager) DiffCommits(ctx context.Context, p cw.Project, base, head string, req cw.DiffRequest) (cw.Diff, error) {
	if err := req.Check(); err != nil {
		return cw.Diff{}, err
	}
	c, err := m.openCommits(ctx, p, base, head)
	if err != nil {
		return cw.Diff{}, err
	}
	defer c.close()
	d := cw.Diff{Project: p.Name, HeadCommit: c.head, Uncommitted: []string{}}
	err = c.partFrom(ctx, base)
	if err == nil {
		err = c.compare(ctx, &d, req)
	}
	if errors.Is(err, errTooMuch) {
		return cw.Diff{}, cw.Errorf(cw.CodeFailed, "the changes of %.12s are more than %d MiB of text", head, maxOutput>>20).
			WithHint("ask for the summary, --stat, or for some paths").Because(err)
	}
	if err != nil {
		return cw.Diff{}, fmt.Errorf("compare %.12s with %.12s: %w", head, base, err)
	}
	return d, nil
}

// Contains tells whether a commit has another among its ancestors, or is it. Both
// are full ids. One that the mirror does not have contains nothing and is in
// nothing.
func (m *Manager) Contains(ctx context.Context, p cw.Project, commit, ancestor string) (bool, error) {
	c, err := m.openCommits(ctx, p, ancestor, commit)
	if cw.ErrorCode(err) == cw.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer c.close()
	holds, err := c.contains(ctx, commit, ancestor)
	if err != nil {
		return false, fmt.Errorf("look for %.12s in %.12s: %w", ancestor, commit, err)
	}
	return holds, nil
}

// CheckReserved names the paths in cw's own folders of a worktree that commits of
// head, which base does not have, touch, in order: such commits cannot be merged,
// also when a later one takes it back. Both are full ids of commits in the mirror.
// CodeNotFound when it does not have one of them.
func (m *Manager) CheckReserved(ctx context.Context, p cw.Project, base, head string) ([]string, error) {
	c, err := m.openCommits(ctx, p, base, head)
	if err != nil {
		return nil, err
	}
	defer c.close()
	// Of a merge, what is in neither of its parents.
	args := []string{"log", "-z", "--format=", "--name-only", "--no-renames", "--full-history", "--diff-merges=dense-combined", "--root",
		"--no-ext-diff", "--no-textconv", "--no-show-signature", "--end-of-options", base + ".." + head, "--"}
	for _, dir := range ownExcludes() {
		args = append(args, ":(top,literal)"+strings.Trim(dir, "/"))
	}
	out, err := c.git(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("look for paths of cw's own in %.12s: %w", head, err)
	}
	var paths []string
	for path := range strings.SplitSeq(string(out), "\x00") {
		if path = strings.Trim(path, "\n"); path != "" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
