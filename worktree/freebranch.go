package worktree

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
)

// All agents of a project share the branch names of its mirror. The branches that
// a removed agent made are taken out of their way, and come back with the agent.

// ofAgents reports whether a reference may be a branch that an agent named itself.
func ofAgents(ref string) bool {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	return ok && !strings.HasPrefix(name, agentBranch("")) && !strings.HasPrefix(name, integrationRoot)
}

// branchesToFree lists the branches on which worktrees of an agent are, and, with no
// worktree, those that end in a commit of its making. Branches on which another
// agent is stay. Their commits are kept by keepEnds.
func (x *mirror) branchesToFree(ctx context.Context, r *record) (free []agentTree, err error) {
	trees, err := x.agentTrees(ctx, r)
	if err != nil {
		return nil, err
	}
	made, busy := map[string]bool{}, map[string]bool{}
	for _, t := range trees {
		if ofAgents(t.Branch) && t.Commit != "" {
			free = append(free, t)
		}
		if log, err := readRegular(filepath.Join(x.dir, "worktrees", t.Admin, "logs", "HEAD"), reflogMax); err == nil {
			maps.Copy(made, logged(log, true))
		}
	}
	names, err := x.adminNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if branch, _, err := adminHead(filepath.Join(x.dir, "worktrees", name)); err == nil {
			busy[branch] = true
		}
	}
	out, err := x.git(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", "--", "refs/heads/")
	if err != nil {
		return nil, fmt.Errorf("list branches of %s: %w", r.Alias, err)
	}
	for row := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		if ofAgents(name) && made[id] && !busy[name] {
			free = append(free, agentTree{Branch: name, Commit: id})
		}
	}
	return free, nil
}

// freeBranches detaches the worktrees of a removed agent from their branches and
// deletes these, unless they moved meanwhile. It may be repeated.
func (x *mirror) freeBranches(ctx context.Context, r *record) error {
	for _, t := range r.Freed {
		if admin := filepath.Join(x.dir, "worktrees", t.Admin); t.Admin != "" && isDir(admin) {
			if err := writeFile(filepath.Join(admin, "HEAD"), []byte(t.Commit+"\n")); err != nil {
				return fmt.Errorf("detach %s from %s: %w", r.Alias, t.Branch, err)
			}
		}
		x.m.fail.Hit("worktree/detached")
		now, err := x.refs().commit(ctx, t.Branch)
		if err != nil || now != t.Commit {
			continue // somebody else has the name by now
		}
		if _, err := x.git(ctx, nil, "update-ref", "-d", "--end-of-options", t.Branch, t.Commit); err != nil {
			return fmt.Errorf("free %s: %w", t.Branch, err)
		}
	}
	return nil
}

// takeBranchesBack undoes freeBranches for an agent that is restored, and names the
// branches that another agent has by now.
func (e *ensurer) takeBranchesBack(ctx context.Context) error {
	if len(e.r.Freed) == 0 {
		return nil
	}
	for _, t := range e.r.Freed {
		now, err := e.refs().commit(ctx, t.Branch)
		if err != nil {
			return err
		}
		if now != "" && now != t.Commit {
			e.warn("branch %s belongs to another agent by now; it was at %.12s, which is kept", strings.TrimPrefix(t.Branch, "refs/heads/"), t.Commit)
			continue // a HEAD on it stays detached
		}
		if now == "" {
			gone, err := e.notThere(ctx, []string{t.Commit})
			if err != nil {
				return err
			}
			if len(gone) > 0 {
				continue // checkCommits tells what is lost
			}
			if _, err := e.git(ctx, nil, "update-ref", "-m", "cw: restored", "--create-reflog", "--end-of-options", t.Branch, t.Commit); err != nil {
				return fmt.Errorf("restore %s of %s: %w", t.Branch, e.r.Alias, err)
			}
		}
		e.m.fail.Hit("worktree/branch-back")
		if admin := filepath.Join(e.dir, "worktrees", t.Admin); t.Admin != "" && isDir(admin) {
			if err := writeFile(filepath.Join(admin, "HEAD"), []byte("ref: "+t.Branch+"\n")); err != nil {
				return fmt.Errorf("restore %s of %s: %w", t.Branch, e.r.Alias, err)
			}
		}
	}
	e.r.Freed = nil
	return e.writeRecord(*e.r)
}

// dropNested removes the admin folders of the worktrees that an agent made inside
// its own, which is no more.
func (x *mirror) dropNested(ctx context.Context, r *record) error {
	trees, err := x.agentTrees(ctx, r)
	if err != nil {
		return err
	}
	for _, t := range trees {
		if t.Folder == "" {
			continue
		}
		if err := removeTree(filepath.Join(x.dir, "worktrees", t.Admin)); err != nil {
			return err
		}
	}
	return nil
}
