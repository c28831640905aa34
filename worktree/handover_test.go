package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestHandOver(t *testing.T) {
	t.Parallel()
	const branch, aside = "refs/heads/agent/brave-otter", "refs/remotes/cw/agent/brave-otter"
	tests := []struct {
		name    string
		prepare func(a *agent) // in the user's repository, after the agent's first commit
		ref     string
		note    string
	}{
		{"new", func(*agent) {}, branch, ""},
		{"moves forward", func(a *agent) { a.handOver(); a.commit("more.txt", "x\n") }, branch, ""},
		{"already there", func(a *agent) { a.handOver() }, branch, ""},
		{"already there and checked out", func(a *agent) {
			a.handOver()
			git(a.t, a.repo, "checkout", "-q", "agent/brave-otter")
		}, branch, ""},
		{"checked out", func(a *agent) {
			a.handOver()
			git(a.t, a.repo, "checkout", "-q", "agent/brave-otter")
			a.commit("more.txt", "x\n")
		}, aside, "is checked out in"},
		{"checked out in a linked worktree", func(a *agent) {
			a.handOver()
			git(a.t, a.repo, "worktree", "add", "-q", filepath.Join(a.t.TempDir(), "other"), "agent/brave-otter")
			a.commit("more.txt", "x\n")
		}, aside, "is checked out in"},
		{"unborn and checked out", func(a *agent) { git(a.t, a.repo, "symbolic-ref", "HEAD", branch) }, aside, "is checked out in"},
		{"diverged", func(a *agent) {
			git(a.t, a.repo, "branch", "agent/brave-otter")
			git(a.t, a.repo, "commit-tree", "-m", "mine", "HEAD^{tree}")
			git(a.t, a.repo, "update-ref", branch, git(a.t, a.repo, "commit-tree", "-p", "HEAD", "-m", "mine", "HEAD^{tree}"))
		}, aside, "gone another way"},
		{"rewritten by the agent", func(a *agent) {
			a.handOver()
			git(a.t, a.path, "commit", "-q", "--amend", "-m", "another message")
		}, aside, "gone another way"},
		{"blocked", func(a *agent) { git(a.t, a.repo, "branch", "agent") }, aside, "cannot exist beside your branch agent"},
		{"blocked from below", func(a *agent) { git(a.t, a.repo, "branch", "agent/brave-otter/mine") }, aside, "cannot exist beside"},
		{"differs in case", func(a *agent) { git(a.t, a.repo, "branch", "agent/Brave-Otter") }, aside, "cannot exist beside"},
		{"locked", func(a *agent) { write(a.t, a.repo, ".git/refs/heads/agent/brave-otter.lock", "") }, aside, "git refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			a.commit("x.txt", "x\n")
			test.prepare(a)
			head := git(t, a.path, "rev-parse", "HEAD")
			before := snapshot(t, a.repo)
			for range 2 {
				out := a.handOver()
				if out.Ref != test.ref || out.Commit != head || !strings.Contains(out.Note, test.note) || (out.Note == "") != (test.note == "") {
					t.Errorf("%+v, want %s (%s)", out, test.ref, test.note)
				}
				if got := git(t, a.repo, "rev-parse", test.ref); got != head {
					t.Errorf("%s is %s, want %s", test.ref, got, head)
				}
			}
			for _, path := range changes(before, snapshot(t, a.repo)) {
				if !strings.HasPrefix(path, ".git/refs/heads/agent") && !strings.HasPrefix(path, ".git/logs/refs/heads/agent") &&
					!strings.HasPrefix(path, ".git/refs/remotes") && !strings.HasPrefix(path, ".git/logs/refs/remotes") {
					t.Errorf("%s was touched", path)
				}
			}
			if got := git(t, a.mirror(), "rev-parse", headRef(a.req.AgentID)); got != head {
				t.Errorf("kept head %s", got)
			}
		})
	}
}

func TestHandOverNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	_, err := l.m.HandOver(ctx(t), l.p, a.req.AgentID, "calm-fox", "")
	wantCode(t, err, cw.CodeNotFound)
}

// TestHandOverWithOddConfiguration: what the user configured for fetching must
// not add or remove anything.
func TestHandOverWithOddConfiguration(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	head := a.commit("x.txt", "x\n")
	git(t, a.path, "tag", "from-agent")
	hooks := filepath.Join(l.repo, ".git/hooks")
	for _, name := range []string{"reference-transaction", "post-merge", "pre-auto-gc"} {
		if err := os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\ntouch '"+l.home+"/ran-"+name+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{
		"fetch.prune": "true", "fetch.pruneTags": "true", "gc.auto": "1", "fetch.writeCommitGraph": "true",
		"fetch.recurseSubmodules": "true", "protocol.file.allow": "never", "protocol.version": "0", "core.logAllRefUpdates": "false",
	} {
		git(t, l.repo, "config", key, value)
	}
	git(t, l.repo, "tag", "mine")
	if ran, _ := filepath.Glob(filepath.Join(l.home, "ran-*")); len(ran) != 1 {
		t.Fatalf("the hook does not work: %v", ran)
	}
	_ = os.Remove(filepath.Join(l.home, "ran-reference-transaction"))
	before := snapshot(t, l.repo)
	if out := a.handOver(); out.Note != "" || git(t, l.repo, "rev-parse", "agent/brave-otter") != head {
		t.Errorf("%+v", out)
	}
	for _, path := range changes(before, snapshot(t, l.repo)) {
		if !strings.HasPrefix(path, ".git/refs/heads/agent") {
			t.Errorf("%s was touched", path)
		}
	}
	if ran, _ := filepath.Glob(filepath.Join(l.home, "ran-*")); len(ran) > 0 {
		t.Errorf("hooks ran: %v", ran)
	}
}

// TestHandOverShallow: the user deepens the repository meanwhile.
func TestHandOverShallow(t *testing.T) {
	t.Parallel()
	full := newRepo(t)
	for range 3 {
		git(t, full, "commit", "-q", "--allow-empty", "-m", "more")
	}
	dir := filepath.Join(t.TempDir(), "shallow")
	git(t, "/", "clone", "-q", "--depth=1", "file://"+full, dir)
	a := newLabFor(t, dir).add("brave-otter")
	head := a.commit("x.txt", "x\n")
	git(t, dir, "fetch", "-q", "--unshallow")
	if out := a.handOver(); out.Note != "" || git(t, dir, "rev-parse", "agent/brave-otter") != head {
		t.Errorf("%+v", out)
	}
	if got := git(t, dir, "rev-list", "--count", "agent/brave-otter"); got != "5" {
		t.Errorf("%s commits", got)
	}
}
