package worktree

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the ways in which an agent commits beside its branch. Each gives
// the commits that it made, and the branches.
func elsewhere() map[string]func(a *agent) (commits, branches []string) {
	head := func(a *agent, dir string) string { return git(a.t, dir, "rev-parse", "HEAD") }
	more := func(a *agent, dir, name string) string {
		write(a.t, dir, name, name)
		git(a.t, dir, "add", "--", name)
		git(a.t, dir, "commit", "-qm", name)
		return head(a, dir)
	}
	return map[string]func(a *agent) ([]string, []string){
		"another branch, left": func(a *agent) ([]string, []string) {
			git(a.t, a.path, "checkout", "-qb", "left")
			id := more(a, a.path, "one")
			git(a.t, a.path, "checkout", "-q", agentBranch(a.req.Alias))
			return []string{id}, []string{"left"}
		},
		"another branch, deleted": func(a *agent) ([]string, []string) {
			git(a.t, a.path, "checkout", "-qb", "deleted")
			id := more(a, a.path, "one")
			git(a.t, a.path, "checkout", "-q", agentBranch(a.req.Alias))
			git(a.t, a.path, "branch", "-qD", "deleted")
			return []string{id}, nil
		},
		"another branch, checked out, parted": func(a *agent) ([]string, []string) {
			own := more(a, a.path, "own")
			git(a.t, a.path, "checkout", "-qb", "parted", "HEAD~1")
			return []string{own, more(a, a.path, "one")}, []string{"parted"}
		},
		"another branch, checked out, ahead": func(a *agent) ([]string, []string) {
			git(a.t, a.path, "checkout", "-qb", "ahead")
			return []string{more(a, a.path, "one")}, []string{"ahead"}
		},
		"a detached HEAD": func(a *agent) ([]string, []string) {
			git(a.t, a.path, "checkout", "-q", "--detach")
			id := more(a, a.path, "one")
			git(a.t, a.path, "checkout", "-q", agentBranch(a.req.Alias))
			return []string{id, more(a, a.path, "two")}, nil
		},
		"a reset": func(a *agent) ([]string, []string) {
			ids := []string{more(a, a.path, "one"), more(a, a.path, "two")}
			git(a.t, a.path, "reset", "-q", "--hard", "HEAD~2")
			return ids, nil
		},
		"an amended commit": func(a *agent) ([]string, []string) {
			id := more(a, a.path, "one")
			git(a.t, a.path, "commit", "-q", "--amend", "-m", "other words")
			return []string{id, head(a, a.path)}, nil
		},
		"a worktree on a branch": func(a *agent) ([]string, []string) {
			dir := filepath.Join(a.path, "trees/sub")
			git(a.t, a.path, "worktree", "add", "-q", "-b", "nested", "trees/sub")
			return []string{more(a, dir, "one")}, []string{"nested"}
		},
		"a detached worktree": func(a *agent) ([]string, []string) {
			dir := filepath.Join(a.path, "trees/sub")
			git(a.t, a.path, "worktree", "add", "-q", "--detach", "trees/sub")
			ids := []string{more(a, dir, "one")}
			git(a.t, dir, "reset", "-q", "--hard", "HEAD~1")
			return append(ids, more(a, dir, "two")), nil
		},
	}
}

// forgetful lets git delete every object of the mirror that no reference holds.
func (l *lab) forgetful() {
	git(l.t, l.mirror(), "reflog", "expire", "--expire=all", "--all")
	git(l.t, l.mirror(), "gc", "--quiet", "--prune=now")
}

func (l *lab) holds(commits []string, when string) {
	l.t.Helper()
	for _, id := range commits {
		if _, err := tryGit(l.mirror(), "cat-file", "-e", id+"^{tree}"); err != nil {
			l.t.Errorf("%s: commit %s is gone", when, id)
		}
	}
}

// TestEnds: whatever an agent committed, on whatever head, stays; the names of its
// branches are free when it is removed, and its again when it is restored.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, do := range elsewhere() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabFor(t, newRepo(t))
			a := l.add("one")
			commits, branches := do(a)
			notes, err := a.m.KeepEnds(ctx(t), a.lookRequest(), a.look().Tip)
			if err != nil {
				t.Fatal(err)
			}
			named := slices.ContainsFunc(notes, func(s string) bool {
				return strings.Contains(s, "git fetch") && (len(branches) == 0 || strings.Contains(s, "branch "+branches[0]))
			})
			if standing := strings.Contains(name, "worktree") || strings.Contains(name, "parted"); named != standing {
				t.Errorf("notes %q", notes)
			}
			if again, err := a.m.KeepEnds(ctx(t), a.lookRequest(), a.look().Tip); err != nil || len(again) > 0 {
				t.Errorf("asked again: %q, %v", again, err)
			}
			before := everything(t, a.path)
			snap := a.keep("one")
			trash := a.toTrash()
			l.forgetful()
			l.holds(commits, "removed")
			for _, branch := range branches {
				if out, err := tryGit(l.mirror(), "rev-parse", "-q", "--verify", "refs/heads/"+branch); err == nil {
					t.Errorf("branch %s is at %s", branch, out)
				}
			}
			other := l.add("two")
			do(other) // fails where a name is taken
			other.toTrash()

			if out := a.ensureFrom(trash, snap.Ref, fromTrash); len(out.Warnings) > 0 {
				t.Errorf("warnings %q", out.Warnings)
			}
			if d := changes(before, everything(t, a.path)); d != nil {
				t.Errorf("%q differ", d)
			}
			for _, branch := range branches {
				if branch == "left" {
					git(t, l.mirror(), "rev-parse", "--verify", "refs/heads/left")
					continue
				}
				on, err := tryGit(a.path, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+branch)
				if err != nil || !strings.HasPrefix(on, a.path) {
					t.Errorf("branch %s is checked out at %q, %v", branch, on, err)
				}
			}
			if out := git(t, a.path, "worktree", "list"); strings.Contains(out, "error") {
				t.Error(out)
			}
			a.purge(a.toTrash())
			l.forgetful()
			l.holds(commits, "purged")
			if admins, _ := filepath.Glob(filepath.Join(l.mirror(), "worktrees", "*")); len(admins) > 2 { // of the other agent
				t.Errorf("admin folders %q", admins)
			}
		})
	}
}

// TestEndsNothing: work that is on the agent's branch alone, or the user's, needs
// no further reference.
func TestEndsNothing(t *testing.T) {
	t.Parallel()
	l := newLabFor(t, newRepo(t))
	git(t, l.repo, "branch", "other")
	a := l.add("one")
	a.commit("a.txt", "a")
	git(t, a.path, "checkout", "-q", "--detach", "refs/remotes/origin/other")
	git(t, a.path, "checkout", "-q", agentBranch("one"))
	if notes, err := a.m.KeepEnds(ctx(t), a.lookRequest(), a.look().Tip); err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	if out, err := tryGit(l.mirror(), "rev-parse", "-q", "--verify", endsRef(a.req.AgentID)); err == nil {
		t.Errorf("there is %s", out)
	}
}

// TestBranchTaken: the name of a removed agent's branch that another one took in
// the meantime stays the other's.
func TestBranchTaken(t *testing.T) {
	t.Parallel()
	l := newLabFor(t, newRepo(t))
	a := l.add("one")
	git(t, a.path, "checkout", "-qb", "feature")
	id := a.commit("a.txt", "a")
	trash := a.toTrash()
	b := l.add("two")
	git(t, b.path, "checkout", "-qb", "feature")
	theirs := b.commit("b.txt", "b")
	out := a.ensureFrom(trash, "", fromTrash)
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "feature") {
		t.Errorf("warnings %q", out.Warnings)
	}
	if head := git(t, a.path, "rev-parse", "HEAD"); head != id {
		t.Errorf("HEAD is %s, want %s", head, id)
	}
	if status := git(t, a.path, "status", "--porcelain"); status != "" {
		t.Error(status)
	}
	if head := git(t, b.path, "rev-parse", "feature"); head != theirs {
		t.Errorf("the branch is at %s, want %s", head, theirs)
	}
}

func TestLogged(t *testing.T) {
	t.Parallel()
	a, b, c := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	log := strings.Repeat("0", 40) + " " + a + " X <x> 1 +0\tcheckout\n" + a + " " + b + " X <x> 1 +0\tcommit: " + c + "\ngarbage\n\n" + a + " zz X\n"
	got := logged([]byte(log), false)
	if len(got) != 2 || !got[a] || !got[b] {
		t.Errorf("%v", got)
	}
	if got := logged([]byte(log), true); len(got) != 1 || !got[b] {
		t.Errorf("made: %v", got)
	}
}

func TestEndsOfCommits(t *testing.T) {
	t.Parallel()
	got := ends(map[string][]string{"d": {"b", "c"}, "c": {"a"}, "b": {"a"}, "e": {"x"}})
	if !slices.Equal(got, []string{"d", "e"}) {
		t.Errorf("%q", got)
	}
}
