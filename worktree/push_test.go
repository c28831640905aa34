package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

const saleBranch = "cw/spring-sale"

// integrated makes a commit in cw's copy and the branch of an initiative of it.
func (l *lab) integrated(name string) string {
	l.t.Helper()
	l.ensure()
	on, err := l.m.BranchHead(ctx(l.t), l.p, saleBranch)
	if err != nil {
		l.t.Fatal(err)
	}
	if on == "" {
		on = git(l.t, l.repo, "rev-parse", "HEAD")
	}
	mirror, err := l.m.mirrorDir(l.p)
	if err != nil {
		l.t.Fatal(err)
	}
	commit := git(l.t, mirror, "-c", "user.name=cw", "-c", "user.email=cw@example.com", "commit-tree", "-p", on, "-m", name, on+"^{tree}")
	git(l.t, mirror, "update-ref", "refs/heads/"+saleBranch, commit)
	return commit
}

// TestPushBranch: the branch of an initiative comes to the remote, and nothing
// else does; the user's repository stays as it is, with its hooks unasked.
func TestPushBranch(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	bare := filepath.Join(t.TempDir(), "my app.git")
	git(t, "/", "clone", "-q", "--bare", repo, bare)
	l := newLabFor(t, repo)
	git(t, repo, "remote", "add", "origin", bare)
	git(t, repo, "tag", "-m", "one", "v1")
	git(t, repo, "branch", "private")
	for key, value := range map[string]string{"push.followTags": "true", "push.gpgSign": "true", "push.pushOption": "ci.skip", "remote.origin.push": "+refs/heads/*:refs/heads/*"} {
		git(t, repo, "config", key, value)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	write(t, repo, ".git/hooks/pre-push", "#!/bin/sh\ntouch '"+ran+"'\nexit 1\n")
	if err := os.Chmod(filepath.Join(repo, ".git/hooks/pre-push"), 0o700); err != nil {
		t.Fatal(err)
	}
	if head, err := l.ensuredHead(saleBranch); head != "" || err != nil {
		t.Errorf("before there is one: %q, %v", head, err)
	}
	var mine []string
	for i, name := range []string{"one", "two"} {
		commit := l.integrated(name)
		mine = append(mine, allRefs(t, repo)+git(t, repo, "count-objects", "-v"))
		for again := range 2 {
			done, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil)
			if err != nil || done != (again == 0) {
				t.Fatalf("push %d.%d: %v, %v", i, again, done, err)
			}
		}
		if head, err := l.m.BranchHead(ctx(t), l.p, saleBranch); head != commit || err != nil {
			t.Errorf("its head is %q, %v", head, err)
		}
		want := "refs/heads/" + saleBranch + " " + commit + "\nrefs/heads/main " + git(t, repo, "rev-parse", "main")
		if diff := cmp.Diff(want, allRefs(t, bare)); diff != "" {
			t.Errorf("push %d, at the remote: %s", i, diff)
		}
		mine = append(mine, allRefs(t, repo)+git(t, repo, "count-objects", "-v"))
	}
	for _, m := range mine[1:] {
		if diff := cmp.Diff(mine[0], m); diff != "" {
			t.Errorf("in the user's repository: %s", diff)
		}
	}
	if exists(ran) {
		t.Error("the user's hook ran")
	}
}

func (l *lab) ensuredHead(branch string) (string, error) {
	l.t.Helper()
	l.ensure()
	return l.m.BranchHead(ctx(l.t), l.p, branch)
}

// TestPushRefused: what somebody else pushed stays, and a remote may say no.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	l, bare := newRemote(t)
	l.p.Path, l.p.RemoteURL, l.p.GitDir = l.repo, "", filepath.Join(l.repo, ".git")
	git(t, l.repo, "remote", "set-url", "origin", bare)
	commit := l.integrated("ours")
	theirs := l.pushed(saleBranch, "theirs.txt")
	_, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil)
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "force") || !strings.Contains(cw.ErrorHint(err), "git push origin --delete "+saleBranch) {
		t.Errorf("over others' commits: %v, hint %q", err, cw.ErrorHint(err))
	}
	if now := git(t, bare, "rev-parse", saleBranch); now != theirs {
		t.Errorf("theirs is %s now", now)
	}
	git(t, bare, "update-ref", "-d", "refs/heads/"+saleBranch)
	hook := filepath.Join(bare, "hooks", "pre-receive")
	write(t, bare, "hooks/pre-receive", "#!/bin/sh\necho 'error: only on weekdays' >&2\nexit 1\n")
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil)
	if cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(err.Error(), "hook declined") || !strings.Contains(err.Error(), "only on weekdays") {
		t.Errorf("when the remote says no: %v", err)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"main", "cw/", "cw/..", "cw/a:main", "+" + saleBranch, "cw/a b", "cw/-f", "refs/heads/" + saleBranch, "cw/a/b", ""} {
		if _, err := l.m.PushBranch(ctx(t), l.p, branch, commit, nil); cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("branch %q: %v", branch, err)
		}
	}
	for commit, code := range map[string]cw.Code{
		"HEAD": cw.CodeInvalid, "": cw.CodeInvalid, commit[:12]: cw.CodeInvalid, strings.Repeat("1", 40): cw.CodeNotFound,
		git(t, l.repo, "rev-parse", "HEAD^{tree}"): cw.CodeNotFound,
	} {
		if _, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil); cw.ErrorCode(err) != code {
			t.Errorf("commit %q: %v", commit, err)
		}
	}
	git(t, l.repo, "remote", "remove", "origin")
	if _, err = l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil); cw.ErrorCode(err) != cw.CodeRefused || !strings.Contains(cw.ErrorHint(err), "remote add origin") {
		t.Errorf("without a remote: %v", err)
	}
	if refs := allRefs(t, bare); strings.Contains(refs, "cw/") {
		t.Errorf("at the remote: %s", refs)
	}
}

// TestPushOfRemote: a project without a checkout is pushed out of cw's own
// clone, also when somebody removed that.
func TestPushOfRemote(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			l, bare := newRemote(t, "--object-format="+format)
			l.fetchRemote()
			commit := l.integrated("ours")
			if err := os.RemoveAll(l.p.GitDir); err != nil {
				t.Fatal(err)
			}
			if done, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil); err != nil || !done {
				t.Fatalf("%v, %v", done, err)
			}
			if now := git(t, bare, "rev-parse", saleBranch); now != commit {
				t.Errorf("at the remote: %s", now)
			}
			if up, err := l.m.Upstream(ctx(t), l.p); err != nil || up.Fetch != l.p.RemoteURL || up.Push != l.p.RemoteURL {
				t.Errorf("%+v, %v", up, err)
			}
		})
	}
}

// TestPushFromAnOddHome: a list of folders of objects has colons between them.
func TestPushFromAnOddHome(t *testing.T) {
	t.Parallel()
	l, bare := newRemote(t)
	l.p.Path, l.p.RemoteURL, l.p.GitDir = l.repo, "", filepath.Join(l.repo, ".git")
	l.m = New(Options{ReposDir: filepath.Join(t.TempDir(), `a:b "c" \d`, "repos")})
	commit := l.integrated("ours")
	if done, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil); err != nil || !done {
		t.Fatalf("%v, %v", done, err)
	}
	if now := git(t, bare, "rev-parse", saleBranch); now != commit {
		t.Errorf("at the remote: %s", now)
	}
}

// TestPushKeepsCredentials: a token in the URL of the user's remote is shown to
// nobody, in an argument of git's neither.
func TestPushKeepsCredentials(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-in-the-url"
	l := newLab(t)
	commit := l.integrated("ours")
	for _, url := range []string{"https://me:" + secret + "@127.0.0.1:1/o/n.git", "http://me:" + secret + "@127.0.0.1:1/o/n.git"} {
		if _, err := tryGit(l.repo, "remote", "set-url", "origin", url); err != nil {
			git(t, l.repo, "remote", "add", "origin", url)
		}
		_, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil)
		if cw.ErrorCode(err) != cw.CodeFailed || strings.Contains(err.Error()+cw.ErrorHint(err), secret) || !strings.Contains(err.Error(), "127.0.0.1:1/o/n.git cannot be pushed to") {
			t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	pushes := 0
	for _, c := range l.calls {
		if c.args[0] == "push" {
			pushes++
		}
		if strings.Contains(strings.Join(c.args, " "), secret) {
			t.Errorf("git was called with %q", c.args)
		}
	}
	if pushes != 2 {
		t.Errorf("%d pushes", pushes)
	}
}

// TestPushByNoProgram: a remote that is a program is not run.
func TestPushByNoProgram(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	commit := l.integrated("ours")
	ran := filepath.Join(t.TempDir(), "ran")
	git(t, l.repo, "config", "protocol.allow", "always")
	git(t, l.repo, "remote", "add", "origin", "ext::touch "+ran)
	if _, err := l.m.PushBranch(ctx(t), l.p, saleBranch, commit, nil); cw.ErrorCode(err) != cw.CodeFailed || exists(ran) {
		t.Errorf("%v", err)
	}
}
