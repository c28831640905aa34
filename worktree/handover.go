package worktree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
)

// HandedOver tells where an agent's branch is in the user's repository, or in
// the clone of a remote one.
type HandedOver struct {
	Ref    string // full name
	Commit string // what it points to
	Note   string // why it is not refs/heads/agent/<alias>, or ""
	// Missing names the commits of submodules that the branch needs and that are not
	// in the user's repository, for people; "" for none.
	Missing string
}

// HandOver brings an agent's work from the mirror into the user's repository as
// the branch agent/<alias>, and keeps its commit in the mirror. tip is the
// commit, as Look told it; "" means that of the mirror's branch. It creates
// the branch or moves it forward; where that is not possible (checked out,
// diverged, blocked) the branch goes to refs/remotes/cw/agent/<alias>. Nothing
// else in the user's repository is touched. Asked again it changes nothing.
// CodeNotFound when there is no such branch or no repository any more.
func (m *Manager) HandOver(ctx context.Context, p cw.Project, agentID cw.AgentID, alias, tip string) (HandedOver, error) {
	if err := cw.ValidAlias(alias); err != nil {
		return HandedOver{}, err
	}
	if err := m.checkProject(ctx, p); err != nil {
		return HandedOver{}, err
	}
	x, err := m.openMirror(ctx, p)
	if err != nil {
		return HandedOver{}, err
	}
	defer x.close()
	head, err := x.keepHead(ctx, agentID, alias, tip)
	if err != nil {
		return HandedOver{}, err
	}
	m.fail.Hit("worktree/kept")
	facts, err := x.branchFacts(ctx, alias, head)
	if err != nil {
		return HandedOver{}, err
	}
	out, err := x.bring(ctx, alias, head, facts)
	if err != nil {
		return out, err
	}
	m.fail.Hit("worktree/handed-over")
	missing, err := x.submodulesMissing(ctx, alias, head)
	if err != nil {
		m.log.Warn("cannot look for commits of submodules", "agent", alias, "error", err)
	}
	out.Missing = strings.Join(missing, "; ")
	return out, nil
}

// keepHead makes refs/cw/head/<agent> of the commit, so that it stays and can
// be fetched, whatever became of the branch.
func (x *mirror) keepHead(ctx context.Context, agentID cw.AgentID, alias, tip string) (string, error) {
	head, err := tip, error(nil)
	if head == "" {
		head, err = x.refs().commit(ctx, agentRef(alias))
	}
	if err != nil {
		return "", err
	}
	if head == "" {
		return "", cw.Errorf(cw.CodeNotFound, "there is no branch %s in cw's copy of %s", agentBranch(alias), x.p.Name).
			WithHint("its agent may have deleted or renamed it; see: git -C %s branch -a", x.dir)
	}
	kept, err := x.refs().commit(ctx, headRef(agentID))
	if err != nil || kept == head {
		return head, err
	}
	if err := x.noteKept(alias, head); err != nil {
		return "", err
	}
	if _, err := x.git(ctx, nil, "update-ref", "-m", "cw: handed over", "--create-reflog", "--end-of-options", headRef(agentID), head); err != nil {
		return "", fmt.Errorf("keep head of %s: %w", alias, err)
	}
	return head, nil
}

// branchFacts is what decides where a branch goes.
type branchFacts struct {
	branch     string // agent/<alias>
	have       string // commit of that branch at the user's, "" when there is none
	head       string // commit to bring
	forward    bool   // have is an ancestor of head
	checkedOut string // the user's checkout that has the branch, or ""
	blockedBy  string // another branch that leaves no room for the name, or ""
}

// fallback says why the branch cannot be made or moved forward, "" when it can.
// It needs no reason when nothing is to be done.
func (f branchFacts) fallback() string {
	switch {
	case f.have == f.head:
		return ""
	case f.blockedBy != "":
		return fmt.Sprintf("branch %s cannot exist beside your branch %s", f.branch, f.blockedBy)
	case f.checkedOut != "":
		return fmt.Sprintf("branch %s is checked out in %s", f.branch, f.checkedOut)
	case f.have != "" && !f.forward:
		return fmt.Sprintf("your branch %s has gone another way", f.branch)
	}
	return ""
}

func (x *mirror) branchFacts(ctx context.Context, alias, head string) (branchFacts, error) {
	f := branchFacts{branch: agentBranch(alias), head: head}
	all, err := x.m.userRefs(x.p.GitDir).list(ctx, "refs/heads/")
	if err != nil {
		return f, err
	}
	for _, r := range all {
		name := strings.TrimPrefix(r.name, "refs/heads/")
		switch {
		case name == f.branch:
			f.have = r.id
		case blocks(name, f.branch):
			f.blockedBy = name
		}
	}
	if f.have == head {
		return f, nil
	}
	trees, err := x.m.checkouts(ctx, inUserRepo(x.p.GitDir))
	if err != nil {
		return f, userError(x.p.Where(), err)
	}
	if i := slices.IndexFunc(trees, func(c checkout) bool { return c.branch == agentRef(alias) }); i >= 0 {
		f.checkedOut = trees[i].path
	}
	if f.have != "" {
		f.forward, err = x.isAncestor(ctx, f.have, head)
	}
	return f, err
}

// blocks tells whether two branches cannot be kept side by side: one is a
// folder of the other, or they differ in case only, which file systems of
// macOS do not tell apart.
func blocks(existing, wanted string) bool {
	a, b := strings.ToLower(existing), strings.ToLower(wanted)
	return a == b || strings.HasPrefix(b, a+"/") || strings.HasPrefix(a, b+"/")
}

// isAncestor asks in the mirror. A commit that only the user has is none.
func (x *mirror) isAncestor(ctx context.Context, old, head string) (bool, error) {
	_, err := x.git(ctx, nil, "merge-base", "--is-ancestor", "--end-of-options", old, head)
	switch exitCode(err) {
	case 1, 128: // no; not there
		return false, nil
	}
	return err == nil, err
}

// bring fetches the commit to where it may go.
func (x *mirror) bring(ctx context.Context, alias, head string, f branchFacts) (HandedOver, error) {
	note, force := f.fallback(), ""
	if x.m.guards.Off("branch-of-user") {
		note, force = "", "+"
	}
	if note == "" {
		if f.have == head {
			return HandedOver{Ref: agentRef(alias), Commit: head}, nil
		}
		err := x.userFetch(ctx, force+head+":"+agentRef(alias))
		if err == nil {
			return HandedOver{Ref: agentRef(alias), Commit: head}, nil
		}
		if isFinal(err) {
			return HandedOver{}, fmt.Errorf("hand over %s: %w", alias, err)
		}
		note = fmt.Sprintf("git refused to make branch %s: %s", f.branch, stderrOf(err))
	}
	ref := "refs/remotes/cw/" + f.branch
	have, err := x.m.userRefs(x.p.GitDir).commit(ctx, ref)
	if err != nil {
		return HandedOver{}, fmt.Errorf("hand over %s: %w", alias, err)
	}
	if have != head {
		if err := x.userFetch(ctx, "+"+head+":"+ref); err != nil {
			return HandedOver{}, cw.Errorf(cw.CodeFailed, "branch %s could not be brought into %s", f.branch, x.p.Where()).
				WithHint("its commits are kept; by hand, in a checkout: git fetch %s %s", x.dir, agentRef(alias)).Because(err)
		}
	}
	return HandedOver{Ref: ref, Commit: head, Note: note + "; it is at " + strings.TrimPrefix(ref, "refs/")}, nil
}

// userFetch runs the one command that writes into the user's repository.
func (x *mirror) userFetch(ctx context.Context, refspec string) error {
	if err := x.guard(); err != nil { // git reads the mirror as the other side
		return err
	}
	at := inUserRepo(x.p.GitDir)
	at.lock, at.limit, at.agents = x.lock, transferLimit, x.place().agents
	at.config = []string{"fetch.fsckObjects=true", "protocol.file.allow=always", "fetch.writeCommitGraph=false"}
	_, err := x.m.git.run(ctx, at, nil, "fetch", "--quiet", "--no-prune", "--no-tags", "--no-recurse-submodules",
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-show-forced-updates", "--end-of-options", x.gitDir(), refspec)
	return err
}
