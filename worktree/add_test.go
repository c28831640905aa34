package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cw/internal/cw"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := snapshot(t, l.repo)
	a := l.add("brave-otter")
	if a.added.HeadCommit != a.req.Base.Commit || a.req.Base.Branch != "main" {
		t.Errorf("added %+v from %+v", a.added, a.req.Base)
	}
	if got := git(t, a.path, "symbolic-ref", "HEAD"); got != "refs/heads/agent/brave-otter" {
		t.Errorf("HEAD is %s", got)
	}
	if got := git(t, a.path, "status", "--porcelain"); got != "" {
		t.Errorf("status: %s", got)
	}
	if got := git(t, a.path, "rev-parse", "refs/cw/base/"+string(a.req.AgentID)); got != a.req.Base.Commit {
		t.Errorf("base is %s", got)
	}
	if got := read(t, filepath.Join(l.mirror(), "worktrees", "brave-otter", "locked")); got != "cw agent brave-otter\n" {
		t.Errorf("lock reason %q", got)
	}
	if got := git(t, a.path, "remote"); got != "" {
		t.Errorf("the mirror has a remote: %s", got)
	}
	if _, err := tryGit(a.path, "push"); err == nil {
		t.Error("git push in a worktree works")
	}
	if got := changes(before, snapshot(t, l.repo)); got != nil {
		t.Errorf("the user's repository changed: %v", got)
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

func TestAddIsRepeatable(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	write(t, l.repo, includeFile, ".env\n")
	write(t, l.repo, ".env", "A=1\n")
	a := l.add("brave-otter")
	a.commit("new.txt", "work\n")
	again, err := l.m.Add(ctx(t), a.req)
	if err != nil {
		t.Fatal(err)
	}
	if again.HeadCommit != a.added.HeadCommit || again.Included[".env"] != a.added.Included[".env"] || len(again.Included) != 1 {
		t.Errorf("second answer %+v, first %+v", again, a.added)
	}
	if look := a.look(); look.Commits != 1 {
		t.Errorf("the work is gone: %+v", look)
	}

	other := a.req
	other.AgentID = cw.AgentID(cw.NewID())
	_, err = l.m.Add(ctx(t), other)
	wantCode(t, err, cw.CodeRefused)

	if err := os.RemoveAll(a.path); err != nil {
		t.Fatal(err)
	}
	_, err = l.m.Add(ctx(t), a.req)
	wantCode(t, err, cw.CodeRefused)
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		code    cw.Code
		prepare func(l *lab, req *AddRequest)
	}{
		{"alias with a path", cw.CodeInvalid, func(_ *lab, r *AddRequest) { r.Alias = "../up" }},
		{"alias like an option", cw.CodeInvalid, func(_ *lab, r *AddRequest) { r.Alias = "-b" }},
		{"path taken", cw.CodeRefused, func(l *lab, r *AddRequest) { write(l.t, r.Path, "mine.txt", "x") }},
		{"branch taken", cw.CodeRefused, func(l *lab, r *AddRequest) {
			git(l.t, l.mirror(), "update-ref", agentRef(r.Alias), r.Base.Commit)
		}},
		{"unknown commit", cw.CodeFailed, func(_ *lab, r *AddRequest) {
			r.Base = Base{Commit: strings.Repeat("ab", 20)}
		}},
		{"relative path", cw.CodeInternal, func(_ *lab, r *AddRequest) { r.Path = "x/y" }},
		{"no mirror", cw.CodeNotFound, func(_ *lab, r *AddRequest) { r.Project.Mirror = "other-abcd.git" }},
		{"mirror name with a path", cw.CodeInternal, func(_ *lab, r *AddRequest) { r.Project.Mirror = "../x.git" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.ensure()
			req := l.request("brave-otter")
			test.prepare(l, &req)
			_, err := l.m.Add(ctx(t), req)
			if got := cw.ErrorCode(err); got != test.code {
				t.Errorf("code %q, want %q: %v", got, test.code, err)
			}
			if test.name == "unknown commit" {
				l.nothingLeft(req)
			}
			if test.name == "path taken" && read(t, filepath.Join(req.Path, "mine.txt")) != "x" {
				t.Error("somebody's file is gone")
			}
		})
	}
}

// TestAddBases starts from every kind of base, fetched or already there.
func TestAddBases(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.ensure()
	git(t, l.repo, "branch", "feature/x")
	git(t, l.repo, "tag", "-a", "v1", "-m", "one")
	first := git(t, l.repo, "rev-parse", "HEAD")
	write(t, l.repo, "README.md", "second\n")
	git(t, l.repo, "commit", "-qam", "second")
	second := git(t, l.repo, "rev-parse", "HEAD")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, l.repo, "worktree", "add", "-q", "--detach", linked, first)
	write(t, linked, "only-here.txt", "x\n")
	git(t, linked, "add", ".")
	git(t, linked, "commit", "-qm", "on no branch")
	third := git(t, linked, "rev-parse", "HEAD")

	tests := []struct {
		checkout, base string
		want           Base
	}{
		{l.repo, "", Base{"main", second}},
		{l.repo, "HEAD", Base{"main", second}},
		{l.repo, "main", Base{"main", second}},
		{l.repo, "refs/heads/main", Base{"main", second}},
		{l.repo, "feature/x", Base{"feature/x", first}},
		{l.repo, "v1", Base{"", first}},
		{l.repo, first[:10], Base{"", first}},
		{l.repo, "main~1", Base{"", first}},
		{linked, "", Base{"", third}},
		{l.repo, third, Base{"", third}},
	}
	aliases := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for i, test := range tests {
		base, err := l.m.ResolveBase(ctx(t), test.checkout, test.base)
		if err != nil || base != test.want {
			t.Errorf("base %q: %+v, %v, want %+v", test.base, base, err, test.want)
			continue
		}
		req := l.request("agent-" + aliases[i])
		req.Base = base
		a := l.addRequest(req)
		if got := git(t, a.path, "rev-parse", "HEAD"); got != base.Commit {
			t.Errorf("base %q: HEAD is %s", test.base, got)
		}
		if look := a.look(); look.Work() || look.Commits != 0 {
			t.Errorf("base %q: %+v", test.base, look)
		}
	}
}

func TestAddInParallel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.ensure()
	for round := range 5 {
		var wg sync.WaitGroup
		for i := range 16 {
			req := l.request(fmt.Sprintf("round%d-agent%d", round, i))
			wg.Go(func() {
				if _, err := l.m.EnsureMirror(ctx(t), l.p); err != nil {
					t.Error(err)
				}
				if _, err := l.m.Add(ctx(t), req); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if n := len(parseCheckouts(git(t, l.mirror(), "worktree", "list", "--porcelain", "-z"))); n != 81 {
		t.Errorf("%d entries, want 80 worktrees and the mirror", n)
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

// TestAddFails makes each step fail and expects nothing to be left.
func TestAddFails(t *testing.T) {
	t.Parallel()
	// Undoing needs update-ref too, so only the call that makes the branch fails.
	for step, fails := range map[string]string{"base": "--create-reflog", "worktree": "worktree", "include": "ls-files"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			write(t, l.repo, includeFile, ".env\n")
			l.ensure()
			req := l.request("brave-otter")
			broken := filepath.Join(t.TempDir(), "it's git")
			script := "#!/bin/sh\nfor a in \"$@\"; do [ \"$a\" != " + fails + " ] || exit 7; done\nexec git \"$@\"\n"
			if err := os.WriteFile(broken, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			l.m.git.bin = broken
			if _, err := l.m.Add(ctx(t), req); err == nil {
				t.Fatal("no error")
			}
			l.nothingLeft(req)
			l.m.git.bin = "git"
			if _, err := l.m.Add(ctx(t), req); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestAddCancelled cancels the context in the middle of the checkout.
func TestAddCancelled(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.ensure()
	for i := range 5 {
		req := l.request(fmt.Sprintf("agent-%d", i))
		inner, cancel := context.WithCancel(ctx(t))
		l.m.git.started = func(cmd *exec.Cmd) {
			if slices.Contains(cmd.Args, "worktree") {
				time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
			}
		}
		if _, err := l.m.Add(inner, req); err != nil {
			l.nothingLeft(req)
		}
		cancel()
		l.m.git.started = nil
		l.addRequest(req)
	}
}

// The kill tests run Add in a process of their own: this binary with killedEnv.
const killedEnv = "CW_TEST_KILLED_ADD"

type killedJob struct {
	Repos string
	Req   AddRequest
	// At names the failpoint at which the process ends itself with SIGKILL. Or
	// After: so long after the start of its git call Call both the process
	// (Self) and the git processes (Git) are killed.
	At    string
	Call  string
	After time.Duration
	Self  bool
	Git   bool
}

// killedMain is that process. It prints "done" when it got to the end.
func killedMain() {
	var job killedJob
	if err := json.Unmarshal([]byte(os.Getenv(killedEnv)), &job); err != nil {
		panic(err)
	}
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	m := New(Options{ReposDir: job.Repos, Fail: func(step string) {
		if step == job.At {
			die()
		}
	}})
	m.git.started = func(cmd *exec.Cmd) {
		if job.Call == "" || !slices.Contains(cmd.Args, job.Call) {
			return
		}
		group := cmd.Process.Pid
		go func() {
			time.Sleep(job.After)
			if job.Git {
				_ = syscall.Kill(-group, syscall.SIGKILL)
			}
			if job.Self {
				die()
			}
		}()
	}
	if _, err := m.EnsureMirror(context.Background(), job.Req.Project); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	if _, err := m.Add(context.Background(), job.Req); err != nil {
		fmt.Println(err)
		os.Exit(4)
	}
	fmt.Println("done")
	os.Exit(0)
}

// runKilled runs the process; died tells whether SIGKILL ended it.
func runKilled(t *testing.T, job killedJob) (died bool) {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if job.Self || job.At != "" {
		if !ok || !status.Signaled() {
			t.Fatalf("it was not killed: %v, %s", err, out)
		}
	}
	return true
}

// TestAddKilledAtEachStep ends the process at every failpoint; then the same
// Add works, another alias's too, and an Add that is given up leaves nothing.
func TestAddKilledAtEachStep(t *testing.T) {
	t.Parallel()
	steps := []string{
		"worktree/seeded", "worktree/mirror", "worktree/expected", "worktree/heads", "worktree/synced",
		"worktree/intent", "worktree/fetched", "worktree/base", "worktree/added", "worktree/submodules",
		"worktree/included", "worktree/whole",
	}
	for _, step := range steps {
		t.Run(strings.ReplaceAll(step, "/", "-"), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			write(t, l.repo, includeFile, ".env\n")
			write(t, l.repo, ".env", "A=1\n")
			git(t, l.repo, "checkout", "-q", "--detach")
			write(t, l.repo, "README.md", "on no branch\n")
			git(t, l.repo, "commit", "-qam", "on no branch")
			req := l.request("brave-otter")
			if !runKilled(t, killedJob{Repos: l.m.repos, Req: req, At: step}) {
				t.Fatal("the step was never reached")
			}
			l.ensure()
			other := l.add("calm-fox")
			if step != "worktree/whole" {
				// Given up: nothing of it stays. (A whole worktree is left alone by
				// anybody but its agent.)
				if err := l.m.Discard(ctx(t), l.p, req.Alias, req.Path); err != nil {
					t.Fatal(err)
				}
				l.nothingLeft(req)
				runKilled(t, killedJob{Repos: l.m.repos, Req: req, At: step})
			}
			a := l.addRequest(req)
			if look := a.look(); look.Work() || look.Head != req.Base.Commit || len(look.Notes) > 0 {
				t.Errorf("look %+v", look)
			}
			if a.added.Included[".env"] == "" || read(t, filepath.Join(a.path, ".env")) != "A=1\n" {
				t.Errorf("included %v", a.added.Included)
			}
			if look := other.look(); look.Work() {
				t.Errorf("the other one: %+v", look)
			}
			if got := l.takeRestored(); got != nil {
				t.Errorf("reported as tampering: %v", got)
			}
		})
	}
}

// TestAddKilledInside kills git worktree add at random moments: git alone, the
// process that called it alone, or both.
func TestAddKilledInside(t *testing.T) {
	t.Parallel()
	kills := often(144)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	repo := newRepo(t)
	for i := range 200 {
		write(t, repo, fmt.Sprintf("many/%d/file%d.txt", i%20, i), strings.Repeat("line\n", i))
	}
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "many")
	l := newLabFor(t, repo)
	l.ensure()
	killed := 0
	for i := range kills {
		req := l.request(fmt.Sprintf("victim-%d", i))
		job := killedJob{Repos: l.m.repos, Req: req, Call: "worktree", After: time.Duration(random.IntN(30_000)) * time.Microsecond}
		job.Git, job.Self = i%3 != 1, i%3 != 0
		if runKilled(t, job) {
			killed++
		}
		if i%2 == 0 {
			l.addRequest(l.request(fmt.Sprintf("next-%d", i)))
			l.ensure()
		}
		a := l.addRequest(req)
		if look := a.look(); look.Work() || look.Head != req.Base.Commit || len(look.Notes) > 0 {
			t.Errorf("kill %d: %+v", i, look)
		}
	}
	if killed < kills/2 {
		t.Errorf("only %d of %d were killed in time", killed, kills)
	}
	git(t, l.mirror(), "fsck", "--no-dangling")
	git(t, l.mirror(), "gc", "-q")
	if got := l.takeRestored(); got != nil {
		t.Errorf("reported as tampering: %v", got)
	}
}

// TestHalfMadeWorktreesOfOthers stages what a killed git worktree add of an
// agent leaves; unrepaired, some of these states break every later call.
func TestHalfMadeWorktreesOfOthers(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]string{
		"empty folder":      {},
		"only the lock":     {"locked": "initializing\n"},
		"empty commondir":   {"gitdir": "/x/.git\n", "commondir": "", "HEAD": "ref: refs/heads/q\n"},
		"missing commondir": {"gitdir": "/x/.git\n", "HEAD": "ref: refs/heads/q\n"},
		"zero HEAD":         {"gitdir": "/x/.git\n", "commondir": "../..\n", "HEAD": strings.Repeat("0", 40) + "\n"},
		"empty HEAD":        {"gitdir": "/x/.git\n", "commondir": "../..\n", "HEAD": ""},
		"empty gitdir":      {"gitdir": "", "commondir": "../..\n"},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.ensure()
			admin := filepath.Join(l.mirror(), "worktrees", "theirs")
			if err := os.MkdirAll(admin, 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range files {
				write(t, admin, file, text)
			}
			write(t, l.repo, "README.md", "moved\n")
			git(t, l.repo, "commit", "-qam", "moved")
			a := l.add("brave-otter")
			a.commit("x.txt", "x\n")
			if out := a.handOver(); out.Note != "" {
				t.Error(out.Note)
			}
			if !isDir(admin) {
				t.Error("the half-made worktree of somebody else was removed")
			}
			if got := l.takeRestored(); got != nil {
				t.Errorf("reported as tampering: %v", got)
			}
		})
	}
}

func TestStaleLocksAreHealed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	git(t, l.repo, "branch", "old")
	l.ensure()
	git(t, l.mirror(), "pack-refs", "--all")
	git(t, l.repo, "branch", "-D", "old")
	lock := filepath.Join(l.mirror(), "packed-refs.lock")
	write(t, l.mirror(), "packed-refs.lock", "")
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(lock, long, long); err != nil {
		t.Fatal(err)
	}
	l.ensure()
	if exists(lock) {
		t.Error("the lock is still there")
	}
	if out, err := tryGit(l.mirror(), "rev-parse", "--verify", "refs/remotes/origin/old"); err == nil {
		t.Errorf("old is still at %s", out)
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	work := map[string]func(a *agent){
		"commit":         func(a *agent) { a.commit("x.txt", "x\n") },
		"changed file":   func(a *agent) { write(a.t, a.path, "README.md", "changed\n") },
		"new file":       func(a *agent) { write(a.t, a.path, "new.txt", "new\n") },
		"ignored file":   func(a *agent) { write(a.t, a.path, "build/out.bin", "x") },
		"changed env":    func(a *agent) { write(a.t, a.path, ".env", "B=2\n") },
		"output":         func(a *agent) { write(a.t, a.path, ".cw/output/signal.json", "{}") },
		"other branch":   func(a *agent) { git(a.t, a.path, "checkout", "-qb", "mine") },
		"another .git":   func(a *agent) { write(a.t, a.path, ".git", "gitdir: /nowhere\n") },
		"deleted branch": func(a *agent) { git(a.t, a.mirror(), "update-ref", "-d", agentRef(a.req.Alias)) },
	}
	for name, do := range work {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			write(t, l.repo, includeFile, ".env\n")
			write(t, l.repo, ".env", "A=1\n")
			a := l.add("brave-otter")
			do(a)
			wantCode(t, l.m.Discard(ctx(t), l.p, "brave-otter", a.path), cw.CodeRefused)
			if !exists(filepath.Join(a.path, "README.md")) {
				t.Error("the work is gone")
			}
		})
	}
	t.Run("untouched", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		write(t, l.repo, includeFile, ".env\n")
		write(t, l.repo, ".env", "A=1\n")
		a := l.add("brave-otter")
		write(t, a.path, ".cw/input/manifest.json", "{}")
		for range 2 {
			if err := l.m.Discard(ctx(t), l.p, "brave-otter", a.path); err != nil {
				t.Fatal(err)
			}
			l.nothingLeft(a.req)
		}
		l.addRequest(a.req)
	})
	t.Run("not ours", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.ensure()
		mine := filepath.Join(t.TempDir(), "mine")
		write(t, mine, "x", "x")
		wantCode(t, l.m.Discard(ctx(t), l.p, "brave-otter", mine), cw.CodeRefused)
	})
}
