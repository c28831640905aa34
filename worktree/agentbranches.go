package worktree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// AgentBranch is a branch of an agent in the user's repository.
type AgentBranch struct {
	Alias      string // of its agent
	Commit     string // what it points to
	MergedInto string // a branch that is no agent's and holds the commit, "" for none
	CheckedOut string // the directory of the checkout that is on it, "" for none
}

// Ref returns the full name of the branch.
func (b AgentBranch) Ref() string { return agentRef(b.Alias) }

// AgentBranches lists the branches agent/NAME of the user's repository, in
// order. A branch of another form is not one of them.
func (m *Manager) AgentBranches(ctx context.Context, p cw.Project) ([]AgentBranch, error) {
	if err := m.checkProject(ctx, p); err != nil {
		return nil, err
	}
	refs, err := m.userRefs(p.GitDir).list(ctx, agentRef(""))
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	at := inUserRepo(p.GitDir)
	trees, err := m.checkouts(ctx, at)
	if err != nil {
		return nil, userError(p.Where(), err)
	}
	var all []AgentBranch
	for _, r := range refs {
		b := AgentBranch{Alias: strings.TrimPrefix(r.name, agentRef("")), Commit: r.id}
		if cw.ValidAlias(b.Alias) != nil {
			continue
		}
		if i := slices.IndexFunc(trees, func(c checkout) bool { return c.branch == r.name }); i >= 0 {
			b.CheckedOut = trees[i].path
		}
		out, err := m.git.run(ctx, at, nil, "for-each-ref", "--format=%(refname:short)", "--contains="+r.id, "refs/heads/")
		if err != nil {
			return nil, userError(p.Where(), err)
		}
		for name := range strings.Lines(string(out)) {
			if name = strings.TrimSpace(name); !strings.HasPrefix(name, agentBranch("")) {
				b.MergedInto = name
				break
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// DeleteBranch deletes a merged branch of an agent from the user's repository,
// provided that it still points to the commit that was looked at. CodeRefused
// when it is not merged or is checked out.
func (m *Manager) DeleteBranch(ctx context.Context, p cw.Project, b AgentBranch) error {
	switch {
	case b.MergedInto == "":
		return cw.Errorf(cw.CodeRefused, "%s is not merged into another branch of %s", agentBranch(b.Alias), p.Where()).
			WithHint("to delete it all the same: git -C %s branch -D %s", cw.ShellWord(cmp.Or(p.Path, p.GitDir)), agentBranch(b.Alias))
	case b.CheckedOut != "":
		return cw.Errorf(cw.CodeRefused, "%s is checked out in %s", agentBranch(b.Alias), b.CheckedOut).WithHint("check out another branch there")
	}
	if _, err := m.git.run(ctx, inUserRepo(p.GitDir), nil, "update-ref", "-m", "cw: delete a merged branch", "-d", b.Ref(), b.Commit); err != nil {
		return fmt.Errorf("delete %s: %w", agentBranch(b.Alias), userError(p.Where(), err))
	}
	return nil
}
