package worktree

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// An agent commits on other branches, on a detached HEAD and in worktrees that it
// makes itself, and it leaves commits behind when it resets a branch. Its own
// branch holds none of these. They are found in the reflogs of its worktrees and
// kept under one reference of cw's, so that they outlive those worktrees.

const (
	// endsMax is how many commits outside its branch are looked at for one agent.
	endsMax = 10_000
	// endsParents is how many commits one commit of endsRef holds at most.
	endsParents = 500
	// reflogMax is how much of a reflog is read: about 50,000 entries.
	reflogMax = 8 << 20
)

// endsRef holds, as ancestors, the commits of an agent that its branch does not.
func endsRef(id cw.AgentID) string { return "refs/cw/ends/" + string(id) }

// agentTree is a worktree of an agent as git's admin folder tells of it: the one
// that cw made, or one that the agent made inside it.
type agentTree struct {
	Admin  string `json:"admin"`            // name of the admin folder
	Folder string `json:"folder,omitempty"` // relative to the agent's worktree; "" for the worktree itself
	Branch string `json:"branch,omitempty"` // full name of what HEAD is on; "" for a detached HEAD
	Commit string `json:"commit,omitempty"` // what HEAD is, "" when the branch does not exist
}

// KeepEnds keeps every commit that an agent made and that tip, the commit with its
// work, does not hold, for as long as the mirror exists. The notes name those on
// which a HEAD stands, for people; the rest was left behind by an amended commit,
// a rebase or a reset, and is kept silently. Asked again it changes nothing.
// CodeNotFound when cw has no such worktree.
func (m *Manager) KeepEnds(ctx context.Context, req LookRequest, tip string) (notes []string, err error) {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return nil, err
	}
	defer x.close()
	r, err := x.ownRecord(req)
	if err != nil {
		return nil, err
	}
	return x.keepEnds(ctx, r, tip)
}

func (x *mirror) keepEnds(ctx context.Context, r *record, tip string) (notes []string, err error) {
	trees, err := x.agentTrees(ctx, r)
	if err != nil {
		return nil, err
	}
	outside, err := x.outside(ctx, r, trees, tip)
	if err != nil || len(outside) == 0 {
		return nil, err
	}
	if err := x.storeEnds(ctx, r, ends(outside)); err != nil {
		return nil, err
	}
	for _, t := range trees {
		if _, ok := outside[t.Commit]; ok {
			notes = append(notes, x.endNote(r, t))
		}
	}
	return notes, nil
}

// agentTrees lists the agent's worktree and those that it made inside it.
func (x *mirror) agentTrees(ctx context.Context, r *record) ([]agentTree, error) {
	names, err := x.adminNames()
	if err != nil {
		return nil, err
	}
	ours, err := x.ownLinks()
	if err != nil {
		return nil, err
	}
	home := []string{r.Path}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(r.Path)); err == nil {
		home = append(home, filepath.Join(parent, filepath.Base(r.Path)))
	}
	var trees []agentTree
	for _, name := range names {
		t := agentTree{Admin: name}
		if name != r.Admin {
			if ours[name] != "" || !t.inside(x.dir, home) {
				continue
			}
		}
		branch, id, err := adminHead(filepath.Join(x.dir, "worktrees", name))
		if err != nil {
			continue // its reflog is read all the same when it is ours
		}
		if branch != "" {
			if id, err = x.refs().commit(ctx, branch); err != nil {
				return nil, err
			}
		}
		t.Branch, t.Commit = branch, id
		trees = append(trees, t)
	}
	return trees, nil
}

// inside reports whether an admin folder says that its worktree lies in one of the
// folders, and notes where.
func (t *agentTree) inside(mirrorDir string, folders []string) bool {
	text, err := readSmall(filepath.Join(mirrorDir, "worktrees", t.Admin, "gitdir"))
	if err != nil {
		return false
	}
	dir := filepath.Dir(strings.TrimSuffix(string(text), "\n"))
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			t.Folder = rel
			return true
		}
	}
	return false
}

// outside gives the commits, with their parents, that the reflogs of the worktrees
// lead to and that nothing of cw's or the user's holds: neither tip, nor the base,
// nor another agent's branch, nor what was kept before.
func (x *mirror) outside(ctx context.Context, r *record, trees []agentTree, tip string) (map[string][]string, error) {
	found := map[string]bool{}
	for _, t := range append(slices.Clone(trees), agentTree{Admin: r.Admin}) {
		found[t.Commit] = true
		log, err := readRegular(filepath.Join(x.dir, "worktrees", t.Admin, "logs", "HEAD"), reflogMax)
		if err == nil {
			maps.Copy(found, logged(log, false))
		}
	}
	known := []string{tip, r.Base.Commit}
	for _, id := range append(known, "") {
		delete(found, id)
	}
	if len(found) == 0 {
		return nil, nil
	}
	all := slices.Sorted(maps.Keys(found))
	gone, err := x.notThere(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("look for commits of %s: %w", r.Alias, err)
	}
	var stdin strings.Builder
	for _, id := range all {
		if !slices.Contains(gone, id) {
			stdin.WriteString(id + "\n")
		}
	}
	if stdin.Len() == 0 {
		return nil, nil
	}
	ownEnds, err := x.refs().commit(ctx, endsRef(r.AgentID))
	if err != nil {
		return nil, err
	}
	for _, id := range append(known, ownEnds) {
		if id != "" {
			stdin.WriteString("^" + id + "\n")
		}
	}
	out, err := x.git(ctx, []byte(stdin.String()), "rev-list", "--parents", fmt.Sprintf("--max-count=%d", endsMax), "--stdin",
		"--not", "--remotes", "--glob=refs/cw/head", "--glob=refs/cw/integration", "--exclude="+agentRef(r.Alias), "--branches=agent")
	if err != nil {
		return nil, fmt.Errorf("look for commits of %s: %w", r.Alias, err)
	}
	outside := map[string][]string{}
	for row := range strings.Lines(string(out)) {
		if ids := strings.Fields(row); len(ids) > 0 {
			outside[ids[0]] = ids[1:]
		}
	}
	return outside, nil
}

// logged gives the commits that a reflog names, "OLD NEW WHO WHEN\tWHY" in each
// line; with made only those that were new then. What is no such line is passed
// over: an agent may have written it.
func logged(log []byte, made bool) map[string]bool {
	found := map[string]bool{}
	for row := range bytes.Lines(log) {
		f := bytes.SplitN(row, []byte(" "), 3)
		if len(f) < 3 {
			continue
		}
		ids := f[:2]
		if _, why, _ := bytes.Cut(f[2], []byte("\t")); made {
			if !bytes.HasPrefix(why, []byte("commit")) && !bytes.HasPrefix(why, []byte("cherry-pick")) && !bytes.HasPrefix(why, []byte("revert")) {
				continue
			}
			ids = f[1:2]
		}
		for _, id := range ids {
			if fullID().Match(id) && len(bytes.Trim(id, "0")) > 0 {
				found[string(id)] = true
			}
		}
	}
	return found
}

// ends gives the commits that are no other's parent, in order: they hold the rest.
func ends(commits map[string][]string) []string {
	parents := map[string]bool{}
	for _, of := range commits {
		for _, id := range of {
			parents[id] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(commits)), func(id string) bool { return parents[id] })
}

// storeEnds adds commits to those that are kept.
func (x *mirror) storeEnds(ctx context.Context, r *record, ends []string) error {
	at := x.place()
	at.config = append(at.config, "core.fsync=committed")
	at.env = append(at.env, "GIT_AUTHOR_NAME=cw", "GIT_AUTHOR_EMAIL=cw@localhost", "GIT_COMMITTER_NAME=cw", "GIT_COMMITTER_EMAIL=cw@localhost")
	ref := endsRef(r.AgentID)
	was, err := x.refs().commit(ctx, ref)
	if err != nil {
		return err
	}
	now := was
	for part := range slices.Chunk(ends, endsParents) {
		args := []string{"commit-tree"}
		for _, id := range append([]string{now}, part...) {
			if id != "" {
				args = append(args, "-p", id)
			}
		}
		message := "cw: commits of " + r.Alias + " that its branch does not hold\n"
		out, err := x.gitAt(ctx, at, []byte(message), append(args, r.Base.Commit+"^{tree}")...)
		if err != nil {
			return fmt.Errorf("keep commits of %s: %w", r.Alias, err)
		}
		now = line(out)
	}
	if _, err := x.gitAt(ctx, at, nil, "update-ref", "-m", "cw: kept", "--create-reflog", "--end-of-options", ref, now, was); err != nil {
		return fmt.Errorf("keep commits of %s: %w", r.Alias, err)
	}
	x.m.fail.Hit("worktree/ends")
	return nil
}

// endNote tells where a commit is that the agent's branch does not hold, and how to
// get it.
func (x *mirror) endNote(r *record, t agentTree) string {
	where := "on a detached HEAD"
	if t.Branch != "" {
		where = "on branch " + strings.TrimPrefix(t.Branch, "refs/heads/")
	}
	if t.Folder != "" {
		where += fmt.Sprintf(" in its worktree %q", t.Folder)
	}
	return fmt.Sprintf("%s left commits %s, up to %.12s, that %s does not have; they are kept, and to get them: git fetch %s %s && git branch NAME %.12s",
		r.Alias, where, t.Commit, agentBranch(r.Alias), cw.ShellWord(x.dir), endsRef(r.AgentID), t.Commit)
}
