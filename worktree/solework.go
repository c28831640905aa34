package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cw/internal/cw"
)

// keptAuthor is the author of commits that cw makes to keep others.
const keptAuthor = "cw@localhost"

// soleWork says what of an agent's work would be lost with cw's copy of the repository
// and the agent's worktree: files of the worktree, and commits and stashes that the
// user's repository does not have, on whatever branch the agent made them. Commits that
// were replaced by later ones, as an amended commit is, are left out. What was removed
// and can be restored is not looked at. None: nothing would be lost.
func (m *Manager) soleWork(ctx context.Context, req LookRequest) ([]string, error) {
	x, err := m.openMirror(ctx, req.Project)
	if err != nil {
		return nil, err
	}
	defer x.close()
	r, err := readRecord(x.dir, req.Alias)
	if err != nil {
		return nil, err
	}
	var out []string
	tips := []string{endsRef(req.AgentID), headRef(req.AgentID), agentRef(req.Alias)}
	for i, ref := range tips {
		if tips[i], err = x.refs().commit(ctx, ref); err != nil {
			return nil, err
		}
	}
	if r != nil && r.Whole && r.AgentID == req.AgentID {
		tips = append(tips, r.Head, r.Kept)
		for _, t := range r.Freed {
			tips = append(tips, t.Commit)
		}
		if r.linked() && r.Path == req.Path && exists(req.Path) {
			look, why, err := x.keepsIt(ctx, req, req.Path)
			if err != nil {
				return nil, err
			}
			if why != "" {
				out = append(out, why)
			}
			since, err := x.looseTips(ctx, r, look.Tip)
			if err != nil {
				return nil, err
			}
			tips = append(tips, since...)
		}
	}
	n, err := x.notInUsers(ctx, req, tips)
	if err != nil {
		return nil, err
	}
	switch {
	case n == 1:
		out = append(out, "1 commit that your repository does not have")
	case n > 1:
		out = append(out, fmt.Sprintf("%d commits that your repository does not have", n))
	}
	switch n := x.stashes(req.Alias); {
	case n == 1:
		out = append(out, "1 stash")
	case n > 1:
		out = append(out, fmt.Sprintf("%d stashes", n))
	}
	return out, nil
}

// looseTips returns the commits that the worktrees of an agent stand on, and those that
// their reflogs lead to and nothing of cw's holds yet.
func (x *mirror) looseTips(ctx context.Context, r *record, tip string) ([]string, error) {
	trees, err := x.agentTrees(ctx, r)
	if err != nil {
		return nil, err
	}
	outside, err := x.outside(ctx, r, trees, tip)
	if err != nil {
		return nil, err
	}
	tips := append(ends(outside), tip)
	for _, t := range trees {
		tips = append(tips, t.Commit)
	}
	return tips, nil
}

// notInUsers counts the commits from the base to the tips that the user's repository
// does not have.
func (x *mirror) notInUsers(ctx context.Context, req LookRequest, tips []string) (int, error) {
	slices.Sort(tips)
	tips = slices.DeleteFunc(slices.Compact(tips), func(id string) bool { return id == "" || id == req.BaseCommit })
	gone, err := x.notThere(ctx, tips)
	if err != nil {
		return 0, err
	}
	tips = slices.DeleteFunc(tips, func(id string) bool { return slices.Contains(gone, id) })
	if len(tips) == 0 {
		return 0, nil
	}
	stdin := strings.Join(tips, "\n") + "\n"
	if req.BaseCommit != "" {
		stdin += "^" + req.BaseCommit + "\n"
	}
	out, err := x.git(ctx, []byte(stdin), "log", "--format=%H%x00%T%x00%ad %ae%x00%s", "--date=raw", fmt.Sprintf("--max-count=%d", endsMax), "--stdin",
		"--not", "--exclude=*/"+agentBranch("*"), "--exclude=cw/*", "--remotes")
	if err != nil {
		return 0, fmt.Errorf("list commits of %s: %w", req.Alias, err)
	}
	var ids []string
	same := map[string][2]string{} // an amended or rebased commit has the author and time of the first, and its files or words
	for row := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(row, "\n"), "\x00", 4)
		if len(f) < 4 || strings.HasSuffix(f[2], " "+keptAuthor) {
			continue
		}
		ids = append(ids, f[0])
		same[f[0]] = [2]string{f[2] + "\x00" + f[1], f[2] + "\x00" + f[3]}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	at := inUserRepo(req.Project.GitDir)
	found, err := x.m.git.run(ctx, at, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return 0, userError(req.Project.Where(), err)
	}
	rows := strings.Split(line(found), "\n")
	there := func(i int) bool { return i < len(rows) && rows[i] == "commit" }
	known := map[string]bool{}
	know := func(id string) { known[same[id][0]], known[same[id][1]] = true, true }
	for i, id := range ids {
		if there(i) {
			know(id)
		}
	}
	n := 0
	for i, id := range ids {
		if !there(i) && !known[same[id][0]] && !known[same[id][1]] {
			n++
			know(id)
		}
	}
	return n, nil
}

// stashes counts the stashes that an agent made, as the log of the mirror's stash tells:
// all worktrees of a mirror have one list. A stash that names no agent's branch counts for each.
func (x *mirror) stashes(alias string) (n int) {
	log, err := readRegular(filepath.Join(x.dir, "logs", "refs", "stash"), reflogMax)
	if err != nil {
		return 0 // there is none
	}
	for row := range strings.Lines(string(log)) {
		_, what, ok := strings.Cut(row, "\t")
		_, on, named := strings.Cut(what, "n "+agentBranch(""))
		if name, _, _ := strings.Cut(on, ":"); ok && (!named || name == alias) {
			n++
		}
	}
	return n
}

// onlyHere fills what a difference was asked for beside itself.
func (m *Manager) onlyHere(ctx context.Context, look LookRequest, d *cw.Diff, req cw.DiffRequest) (err error) {
	if req.OnlyHere {
		d.OnlyHere, err = m.soleWork(ctx, look)
	}
	return err
}
