package worktree

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestAgentBranches: only a merged branch that no checkout is on is deleted,
// and only while it points to what was looked at.
func TestAgentBranches(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	m := New(Options{ReposDir: t.TempDir()})
	found, err := m.Inspect(ctx(t), repo)
	if err != nil {
		t.Fatal(err)
	}
	p := cw.Project{ID: "pppppppppppp", Name: "shop", Path: found.Main, GitDir: found.CommonGitDir}
	main := git(t, repo, "symbolic-ref", "--short", "HEAD")
	for _, name := range []string{"agent/calm-fox", "agent/brave-otter", "agent/sly-crow", "agent/not/one", "other"} {
		git(t, repo, "branch", name)
	}
	git(t, repo, "checkout", "-q", "agent/brave-otter")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "more")
	ahead := git(t, repo, "rev-parse", "HEAD")
	git(t, repo, "checkout", "-q", "agent/sly-crow")
	base := git(t, repo, "rev-parse", "HEAD")
	want := []AgentBranch{
		{Alias: "brave-otter", Commit: ahead},
		{Alias: "calm-fox", Commit: base, MergedInto: main},
		{Alias: "sly-crow", Commit: base, MergedInto: main, CheckedOut: found.TopLevel},
	}
	got, err := m.AgentBranches(ctx(t), p)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%v: %s", err, diff)
	}
	for _, b := range got {
		err := m.DeleteBranch(ctx(t), p, b)
		if refused := b.Alias != "calm-fox"; refused != (cw.ErrorCode(err) == cw.CodeRefused) || !refused && err != nil {
			t.Errorf("%s: %v", b.Alias, err)
		}
	}
	moved := AgentBranch{Alias: "brave-otter", Commit: base, MergedInto: main}
	if err := m.DeleteBranch(ctx(t), p, moved); err == nil {
		t.Error("a branch that moved was deleted")
	}
	if left := git(t, repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/agent"); left != "agent/brave-otter\nagent/not/one\nagent/sly-crow" {
		t.Errorf("left: %s", left)
	}
}
