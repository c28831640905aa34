package worktree

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoteKilledAtEachStep ends the process at every failpoint of making and
// renewing the clone of a remote project. The same act done again ends well, and
// agents begin there.
func TestRemoteKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"worktree/cloned", "worktree/remote-fetched"} {
		for _, before := range []bool{false, true} {
			name := "first"
			if before {
				name = "again"
			}
			t.Run(strings.ReplaceAll(step, "/", "-")+" "+name, func(t *testing.T) {
				t.Parallel()
				l, bare := newRemote(t)
				if before {
					l.fetchRemote()
				}
				want := l.pushed("main", "more.txt")
				job := mergeJob{Repos: l.m.repos, Do: "clone", At: step, Integration: IntegrationRequest{Project: l.p}}
				if !mergeKilledAt(t, job) {
					t.Fatal("the step was never reached")
				}
				if err := mergeAct(l.m, job); err != nil {
					t.Fatal(err)
				}
				if got := git(t, l.p.GitDir, "rev-parse", "refs/heads/main"); got != want {
					t.Errorf("main is at %s in the clone, and at %s there", got, want)
				}
				if a := l.remoteAgent("brave-otter", ""); read(t, filepath.Join(a.path, "more.txt")) != "more.txt" {
					t.Error("its worktree is another one")
				}
				git(t, l.p.GitDir, "fsck", "--no-dangling")
				if got := git(t, bare, "rev-parse", "main"); got != want {
					t.Errorf("the remote is at %s", got)
				}
			})
		}
	}
}

// TestPushKilled ends the process when the branch of an initiative is pushed and
// nobody has heard of it. The remote has it; pushing again says that it is there.
func TestPushKilled(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	bare := filepath.Join(t.TempDir(), "shop.git")
	git(t, "/", "clone", "-q", "--bare", repo, bare)
	l := newLabFor(t, repo)
	git(t, repo, "remote", "add", "origin", bare)
	commit, mine := l.integrated("one"), allRefs(t, repo)
	job := mergeJob{Repos: l.m.repos, Do: "push", At: "worktree/branch-pushed", Integration: IntegrationRequest{Project: l.p, Branch: saleBranch}, To: commit}
	if !mergeKilledAt(t, job) {
		t.Fatal("the step was never reached")
	}
	if got := git(t, bare, "rev-parse", "refs/heads/"+saleBranch); got != commit {
		t.Errorf("the remote has %s", got)
	}
	if done, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil); err != nil || done {
		t.Errorf("again: %v, %v", done, err)
	}
	if got := allRefs(t, repo); got != mine {
		t.Errorf("the user's repository has\n%s\nand had\n%s", got, mine)
	}
	git(t, bare, "fsck", "--no-dangling")
}

// TestDiscardKilledAtEachStep ends the process at every failpoint of giving up a
// worktree that was half made: wherever that was, the rest goes with the next
// try, and the name can be used again.
func TestDiscardKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, made := range []string{"worktree/intent", "worktree/base", "worktree/added", "worktree/included"} {
		for _, step := range []string{"worktree/undone-folder", "worktree/undone-admin", "worktree/undone-refs"} {
			t.Run(strings.ReplaceAll(made+" "+step, "/", "-"), func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				req := l.request("brave-otter")
				if !runKilled(t, killedJob{Repos: l.m.repos, Req: req, At: made}) {
					t.Fatal("the step was never reached")
				}
				job := mergeJob{Repos: l.m.repos, Do: "discard", At: step, Integration: IntegrationRequest{Project: l.p}, Alias: req.Alias, Scratch: req.Path}
				if !mergeKilledAt(t, job) {
					t.Fatal("the step was never reached")
				}
				if err := mergeAct(l.m, job); err != nil {
					t.Fatal(err)
				}
				l.nothingLeft(req)
				if look := l.addRequest(req).look(); look.Work() || look.Head != req.Base.Commit {
					t.Errorf("look %+v", look)
				}
				git(t, l.mirror(), "fsck", "--no-dangling")
			})
		}
	}
}
