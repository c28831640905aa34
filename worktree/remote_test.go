package worktree

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// newRemote is a lab whose project is a bare repository by a file URL. The
// repository that it was pushed from is l.repo.
func newRemote(t testing.TB, initArgs ...string) (l *lab, bare string) {
	t.Helper()
	repo := newRepo(t, initArgs...)
	bare = filepath.Join(t.TempDir(), "my app.git")
	git(t, "/", "clone", "-q", "--bare", repo, bare)
	git(t, repo, "remote", "add", "origin", bare)
	l = newLabFor(t, repo)
	l.isRemote("file://" + strings.ReplaceAll(bare, " ", "%20"))
	return l, bare
}

// isRemote makes the lab's project a remote one.
func (l *lab) isRemote(url string) {
	l.t.Helper()
	remote, err := cw.ParseRemote(url)
	if err != nil {
		l.t.Fatal(err)
	}
	l.p.Path, l.p.RemoteURL = "", remote
	if l.p.GitDir, err = l.m.CloneDir(l.p); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) fetchRemote() {
	l.t.Helper()
	if err := l.m.FetchRemote(ctx(l.t), l.p, nil); err != nil {
		l.t.Fatal(err)
	}
}

// remoteAgent adds a worktree at a base of the remote.
func (l *lab) remoteAgent(alias, base string) *agent {
	l.t.Helper()
	l.ensure()
	at, err := l.m.ResolveBase(ctx(l.t), l.p.GitDir, base)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.addRequest(AddRequest{
		Project: l.p, AgentID: cw.AgentID(cw.NewID()), Alias: alias,
		Path: filepath.Join(l.home, ".cw-worktrees", "agent", alias), Base: at,
	})
}

// pushed commits a file and pushes it to a branch of the remote.
func (l *lab) pushed(branch, name string) string {
	l.t.Helper()
	write(l.t, l.repo, name, name)
	git(l.t, l.repo, "add", "--", name)
	git(l.t, l.repo, "commit", "-qm", "add "+name)
	git(l.t, l.repo, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
	return git(l.t, l.repo, "rev-parse", "HEAD")
}

func allRefs(t testing.TB, dir string) string {
	t.Helper()
	return git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)")
}

// TestRemoteLife is a remote project from its first fetch to its removal: the
// remote goes on, an agent's branch is handed over beside it, and nothing is
// pushed.
func TestRemoteLife(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			l, bare := newRemote(t, "--object-format="+format)
			git(t, l.repo, "tag", "v1")
			git(t, l.repo, "push", "-q", "origin", "v1", "main:short-lived", "main:agent/theirs", "main:agent/brave-otter")
			l.fetchRemote()
			for base, branch := range map[string]string{"": "main", "main": "main", "short-lived": "short-lived", "v1": "", "origin/agent/theirs": "origin/agent/theirs"} {
				got, err := l.m.ResolveBase(ctx(t), l.p.GitDir, base)
				if err != nil || got != (Base{Branch: branch, Commit: git(t, bare, "rev-parse", "main")}) {
					t.Errorf("base %q is %v, %v", base, got, err)
				}
			}
			a := l.remoteAgent("brave-otter", "")
			before := allRefs(t, bare)
			work := a.commit("x.txt", "x\n")
			if out := a.handOver(); out != (HandedOver{Ref: "refs/heads/agent/brave-otter", Commit: work}) {
				t.Errorf("handed over as %+v", out)
			}
			if look := a.look(); look.Commits != 1 || len(look.Dirty) > 0 {
				t.Errorf("looks like %+v", look)
			}
			if diff := cmp.Diff(before, allRefs(t, bare)); diff != "" {
				t.Errorf("the remote was changed: %s", diff)
			}

			next := l.pushed("main", "next.txt")
			git(t, l.repo, "push", "-q", "origin", ":short-lived", "main:refs/heads/new")
			l.fetchRemote()
			have := allRefs(t, l.p.GitDir)
			for _, want := range []string{"refs/heads/main " + next, "refs/heads/new " + next, "refs/heads/agent/brave-otter " + work, "refs/remotes/origin/agent/brave-otter "} {
				if !strings.Contains(have, want) {
					t.Errorf("the clone lacks %s:\n%s", want, have)
				}
			}
			if strings.Contains(have, "short-lived") {
				t.Errorf("a branch that is gone at the remote stays:\n%s", have)
			}
			if b := l.remoteAgent("calm-fox", ""); b.added.HeadCommit != next {
				t.Errorf("the next agent begins at %s, not at %s", b.added.HeadCommit, next)
			}
			l.removesOnlyWithWork(a, bare)
		})
	}
}

// removesOnlyWithWork: the branch counts as only here until the remote has it.
func (l *lab) removesOnlyWithWork(a *agent, bare string) {
	t := l.t
	t.Helper()
	if only, err := l.m.OnlyHere(ctx(t), l.p); err != nil || !cmp.Equal(only, []string{"agent/brave-otter"}) {
		t.Errorf("only here: %q, %v", only, err)
	}
	git(t, l.repo, "fetch", "-q", l.p.GitDir, "agent/brave-otter:mine")
	git(t, l.repo, "push", "-q", bare, "mine:refs/heads/feature")
	l.fetchRemote()
	if only, err := l.m.OnlyHere(ctx(t), l.p); err != nil || len(only) > 0 {
		t.Errorf("only here after it was pushed: %q, %v", only, err)
	}
	for _, alias := range []string{"brave-otter", "calm-fox"} {
		if err := l.m.Discard(ctx(t), l.p, alias, filepath.Join(l.home, ".cw-worktrees", "agent", alias)); err != nil {
			if err := os.RemoveAll(filepath.Join(l.home, ".cw-worktrees", "agent", alias)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.m.RemoveMirror(ctx(t), l.p); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(l.home, "repos")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestRemoteUnreachable: what is here stays usable, also when the clone is gone,
// and the branch of an agent always finds a place.
func TestRemoteUnreachable(t *testing.T) {
	t.Parallel()
	l, bare := newRemote(t)
	if when, ok := l.m.Fetched(l.p); ok {
		t.Errorf("fetched at %s, before it was", when)
	}
	l.fetchRemote()
	a := l.remoteAgent("brave-otter", "")
	work := a.commit("x.txt", "x\n")
	if err := os.Rename(bare, bare+".away"); err != nil {
		t.Fatal(err)
	}
	err := l.m.FetchRemote(ctx(t), l.p, nil)
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "does not appear to be a git repository") {
		t.Errorf("a remote that is gone: %v", err)
	}
	if when, ok := l.m.Fetched(l.p); !ok || time.Since(when) > time.Hour {
		t.Errorf("fetched %s, %v", when, ok)
	}
	l.ensure()
	l.remoteAgent("calm-fox", "main")
	if err := os.RemoveAll(l.p.GitDir); err != nil {
		t.Fatal(err)
	}
	if out := a.handOver(); out.Ref != "refs/heads/agent/brave-otter" || git(t, l.p.GitDir, "rev-parse", out.Ref) != work {
		t.Errorf("without the clone: %+v", out)
	}
	if _, ok := l.m.Fetched(l.p); ok {
		t.Error("an empty clone counts as fetched")
	}
	if err := os.Rename(bare+".away", bare); err != nil {
		t.Fatal(err)
	}
	l.fetchRemote()
	if only, err := l.m.OnlyHere(ctx(t), l.p); err != nil || len(only) != 1 {
		t.Errorf("only here: %q, %v", only, err)
	}
}

// TestRemoteFetchedOnce: a remote that did not change is asked and not fetched.
func TestRemoteFetchedOnce(t *testing.T) {
	t.Parallel()
	l, _ := newRemote(t)
	l.fetchRemote()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(l.p.GitDir, fetchedFile), old, old); err != nil {
		t.Fatal(err)
	}
	l.calls = nil
	l.fetchRemote()
	for _, c := range l.calls {
		if c.args[0] != "ls-remote" {
			t.Errorf("git %q, and nothing had changed", c.args)
		}
	}
	if when, _ := l.m.Fetched(l.p); time.Since(when) > time.Minute {
		t.Errorf("fetched at %s", when)
	}
}

func TestParseAdvertised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ref: refs/heads/trunk\tHEAD\na\tHEAD\na\trefs/heads/trunk\nb\trefs/heads/main\n": "refs/heads/trunk",
		"ref: refs/heads/gone\tHEAD\na\trefs/heads/main\nb\trefs/heads/x\n":               "refs/heads/main",
		"a\trefs/heads/master\nb\trefs/heads/x\n":                                         "refs/heads/master",
		"a\trefs/heads/x\n":                      "refs/heads/x",
		"a\trefs/heads/x\nb\trefs/heads/y\n":     "",
		"a\tHEAD\na\trefs/heads/x\nb\trefs/tags": "refs/heads/x",
		"":                                       "",
	} {
		if got := parseAdvertised(text).head; got != want {
			t.Errorf("%q: default branch %q, want %q", text, got, want)
		}
	}
}

// TestRemoteWithoutDefault: a branch has to be named then.
func TestRemoteWithoutDefault(t *testing.T) {
	t.Parallel()
	l, bare := newRemote(t)
	git(t, l.repo, "push", "-q", "origin", "main:refs/heads/x", "main:refs/heads/y")
	git(t, bare, "symbolic-ref", "HEAD", "refs/heads/none")
	git(t, bare, "update-ref", "-d", "refs/heads/main")
	l.fetchRemote()
	_, err := l.m.ResolveBase(ctx(t), l.p.GitDir, "")
	if cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(cw.ErrorHint(err), "--base") {
		t.Errorf("%v, hint %q", err, cw.ErrorHint(err))
	}
	if got, err := l.m.ResolveBase(ctx(t), l.p.GitDir, "y"); err != nil || got.Branch != "y" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRemoteCalledAgent: a branch by the name of the folder of agents' branches
// is in nobody's way, whenever it comes and goes.
func TestRemoteCalledAgent(t *testing.T) {
	t.Parallel()
	l, bare := newRemote(t)
	git(t, l.repo, "push", "-q", "origin", "main:agent/theirs", "main:agents")
	l.fetchRemote()
	a := l.remoteAgent("brave-otter", "")
	work := a.commit("x.txt", "x\n")
	a.handOver()
	git(t, bare, "update-ref", "-d", "refs/heads/agent/theirs")
	git(t, bare, "branch", "agent", "main")
	next := l.pushed("main", "next.txt")
	l.fetchRemote()
	for base, want := range map[string]string{"main": next, "agent/brave-otter": work, "agents": a.added.HeadCommit, "origin/agent": a.added.HeadCommit} {
		if got, err := l.m.ResolveBase(ctx(t), l.p.GitDir, base); err != nil || got.Commit != want {
			t.Errorf("%s is %+v, %v; want %s", base, got, err, want)
		}
	}
	l.remoteAgent("calm-fox", "origin/agent")
	git(t, bare, "branch", "-D", "agent")
	git(t, bare, "branch", "agent/theirs", "main")
	l.fetchRemote()
	if only, err := l.m.OnlyHere(ctx(t), l.p); err != nil || !cmp.Equal(only, []string{"agent/brave-otter"}) {
		t.Errorf("only here: %q, %v", only, err)
	}
}

// TestRemoteEmpty: there is nothing to begin from.
func TestRemoteEmpty(t *testing.T) {
	t.Parallel()
	l, _ := newRemote(t)
	empty := filepath.Join(t.TempDir(), "empty.git")
	git(t, "/", "init", "-q", "--bare", empty)
	l.isRemote("file://" + strings.ReplaceAll(empty, " ", "%20"))
	err := l.m.FetchRemote(ctx(t), l.p, nil)
	if cw.ErrorCode(err) != cw.CodeInvalid || !strings.Contains(err.Error(), "no branches") {
		t.Errorf("%v", err)
	}
}

// TestRemoteTrustsOnlyTheUser: neither what an agent writes into the mirror nor
// the user's own rewriting leads git to another address by a transport that
// runs a program.
func TestRemoteTrustsOnlyTheUser(t *testing.T) {
	t.Parallel()
	l, _ := newRemote(t)
	l.fetchRemote()
	l.remoteAgent("brave-otter", "")
	other, _ := newRemote(t)
	git(t, l.mirror(), "config", "url."+other.p.RemoteURL+".insteadOf", l.p.RemoteURL)
	git(t, l.mirror(), "config", "core.sshCommand", "touch "+filepath.Join(l.home, "ran"))
	next := l.pushed("main", "next.txt")
	l.fetchRemote()
	if got := git(t, l.p.GitDir, "rev-parse", "main"); got != next {
		t.Errorf("main is %s, not %s", got, next)
	}

	home, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	write(t, home, ".gitconfig", "[url \"ext::touch "+ran+" \"]\n\tinsteadOf = "+l.p.RemoteURL+"\n[protocol \"ext\"]\n\tallow = always\n")
	err := l.m.FetchRemote(ctx(t), l.p, map[string]string{"HOME": home})
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(err.Error(), "'ext' not allowed") {
		t.Errorf("%v", err)
	}
	for _, path := range []string{ran, filepath.Join(l.home, "ran")} {
		if exists(path) {
			t.Errorf("%s: it ran", path)
		}
	}
}

// serveGit serves a bare repository by git's own HTTP backend, to those who
// know the password.
func serveGit(t *testing.T, bare, password string) (url string) {
	t.Helper()
	backend := filepath.Join(git(t, "/", "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		missing(t, "git has no HTTP backend here")
	}
	h := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(bare), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"HOME", "PATH"}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/" + strings.ReplaceAll(filepath.Base(bare), " ", "%20")
}

// TestRemoteCredentials: the user's credential helper is asked, nobody else, and
// what it says is stored nowhere.
func TestRemoteCredentials(t *testing.T) {
	t.Parallel()
	const secret = "s3cret-of-the-helper"
	l, bare := newRemote(t)
	url := serveGit(t, bare, secret)
	l.isRemote(url)
	home := t.TempDir()
	window := filepath.Join(home, "window") // at which git would ask
	if err := os.WriteFile(window, []byte("#!/bin/sh\ntouch "+filepath.Join(home, "asked")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, home, ".gitconfig", "[core]\n\taskPass = "+window+"\n")
	err := l.m.FetchRemote(ctx(t), l.p, map[string]string{"HOME": home})
	if cw.ErrorCode(err) != cw.CodeFailed || !strings.Contains(cw.ErrorHint(err), "credential helper") || exists(filepath.Join(home, "asked")) {
		t.Errorf("without a helper: %v, hint %q", err, cw.ErrorHint(err))
	}
	for what, config := range map[string]string{
		"helper":  "[credential]\n\thelper = \"!f() { echo username=me; echo password=" + secret + "; }; f\"\n",
		"rewrite": "[url \"http://me:" + secret + "@" + strings.TrimPrefix(url, "http://") + "\"]\n\tinsteadOf = " + url + "\n",
	} {
		write(t, home, ".gitconfig", config)
		if err := l.m.FetchRemote(ctx(t), l.p, map[string]string{"HOME": home}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if out, _ := tryGit("/", "grep", "-r", "--no-index", "-a", "-F", secret, "--", l.home); out != "" {
			t.Errorf("%s: stored: %s", what, out)
		}
	}
	write(t, home, ".gitconfig", "[url \"http://me:wr0ng@"+strings.TrimPrefix(url, "http://")+"\"]\n\tinsteadOf = "+url+"\n")
	err = l.m.FetchRemote(ctx(t), l.p, map[string]string{"HOME": home})
	if cw.ErrorCode(err) != cw.CodeFailed || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("with a wrong password: %v", err)
	}
	err = (&clone{p: l.p}).explain(&gitError{args: []string{"fetch"}, stderr: "fatal: unable to access 'https://me:wr@0ng@forge.example/x/': it is away"}, "")
	if cw.ErrorCode(err) != cw.CodeFailed || strings.Contains(err.Error(), "0ng") {
		t.Errorf("a token in the address: %v", err)
	}
}

// TestNetworkEnv: nothing that steers git comes from a caller.
func TestNetworkEnv(t *testing.T) {
	t.Parallel()
	want := map[string]string{"PATH": "/bin", "SSH_AUTH_SOCK": "/s", "https_proxy": "p", "NO_PROXY": "n"}
	caller := map[string]string{"GIT_SSH_COMMAND": "x", "GIT_CONFIG_GLOBAL": "x", "HOME": "x", "LD_PRELOAD": "x", "GIT_ALLOW_PROTOCOL": "ext", "http_proxy": "a\x00b"}
	for name, value := range want {
		caller[name] = value
	}
	if diff := cmp.Diff(want, NetworkEnv(caller)); diff != "" {
		t.Error(diff)
	}
}
