package worktree

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
)

// TestMain gives the tests a HOME of their own, with an identity and a branch
// name. The same binary is also the process that the kill tests end.
func TestMain(m *testing.M) {
	if os.Getenv(killedEnv) != "" {
		killedMain()
		return
	}
	if os.Getenv(goneEnv) != "" {
		killedGone()
		return
	}
	if os.Getenv(mergeKilledEnv) != "" {
		killedMerge()
		return
	}
	home, err := os.MkdirTemp("", "cw-worktree-home-*")
	if err != nil {
		panic(err)
	}
	for name := range strings.SplitSeq("GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM XDG_CONFIG_HOME", " ") {
		_ = os.Unsetenv(name)
	}
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"} {
		_ = os.Setenv(name, value)
	}
	config := "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n[maintenance]\n\tauto = false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// git runs plain git, as a person would.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %v in %s: %v", args, dir, err)
	}
	return out
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s", err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// often is how many generated cases a test tries: a twelfth of n, and with CW_LONG all
// of them (make lifetimes).
func often(n int) int {
	if draw.All() {
		return n
	}
	return n / 12
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// newRepo makes a repository of three files and one commit.
func newRepo(t testing.TB, initArgs ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	git(t, "/", append(append([]string{"init", "-q"}, initArgs...), dir)...)
	write(t, dir, "README.md", "hello\n")
	write(t, dir, "src/a.txt", "one\ntwo\nthree\n")
	write(t, dir, ".gitignore", "*.log\nbuild/\n.env*\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "start")
	return dir
}

// lab is a Manager, a repository of the user's, and a place for worktrees.
type lab struct {
	t    testing.TB
	m    *Manager
	repo string
	p    cw.Project
	home string
	// other is a commit to land in the place of the usual one; "" for that.
	other string

	mu       sync.Mutex
	calls    []call
	restored []string
}

func newLab(t testing.TB) *lab { return newLabFor(t, newRepo(t)) }

func newLabFor(t testing.TB, repo string) *lab {
	t.Helper()
	l := &lab{t: t, repo: repo, home: filepath.Join(t.TempDir(), "cw home")}
	l.m = New(Options{ReposDir: filepath.Join(l.home, "repos"), OnRestored: func(_ string, changed []string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.restored = append(l.restored, changed...)
	}})
	l.m.git.observe = func(c call) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.calls = append(l.calls, c)
	}
	info, err := l.m.Inspect(ctx(t), repo)
	if err != nil {
		t.Fatal(err)
	}
	l.p = cw.Project{ID: "aaaabbbbcccc", Name: "app", Path: info.Main, GitDir: info.CommonGitDir, Mirror: "app-abcd.git"}
	return l
}

func (l *lab) mirror() string { return filepath.Join(l.home, "repos", l.p.Mirror) }

// takeRestored gives what was reported as restored since last asked.
func (l *lab) takeRestored() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.restored
	l.restored = nil
	sort.Strings(out)
	return out
}

func ctx(t testing.TB) context.Context { return t.Context() }

// request is an AddRequest for an alias, from HEAD.
func (l *lab) request(alias string) AddRequest {
	l.t.Helper()
	base, err := l.m.ResolveBase(ctx(l.t), l.repo, "")
	if err != nil {
		l.t.Fatal(err)
	}
	return AddRequest{
		Project: l.p, Checkout: l.repo, AgentID: cw.AgentID(cw.NewID()), Alias: alias,
		Path: filepath.Join(l.home, ".cw-worktrees", "agent", alias), Base: base,
	}
}

func (l *lab) ensure() {
	l.t.Helper()
	if _, err := l.m.EnsureMirror(ctx(l.t), l.p); err != nil {
		l.t.Fatal(err)
	}
}

// agent is a worktree that was added.
type agent struct {
	*lab
	req   AddRequest
	added Added
	path  string
}

func (l *lab) add(alias string) *agent {
	l.t.Helper()
	l.ensure()
	return l.addRequest(l.request(alias))
}

func (l *lab) addRequest(req AddRequest) *agent {
	l.t.Helper()
	added, err := l.m.Add(ctx(l.t), req)
	if err != nil {
		l.t.Fatal(err)
	}
	return &agent{lab: l, req: req, added: added, path: req.Path}
}

func (a *agent) lookRequest() LookRequest {
	return LookRequest{Project: a.p, AgentID: a.req.AgentID, Alias: a.req.Alias, Path: a.path, BaseCommit: a.req.Base.Commit, Included: a.added.Included}
}

func (a *agent) look() Look {
	a.t.Helper()
	look, err := a.m.Look(ctx(a.t), a.lookRequest())
	if err != nil {
		a.t.Fatal(err)
	}
	return look
}

// commit does an agent's work: a file, committed.
func (a *agent) commit(name, text string) string {
	a.t.Helper()
	write(a.t, a.path, name, text)
	git(a.t, a.path, "add", "--", name)
	git(a.t, a.path, "commit", "-qm", "change "+name)
	return git(a.t, a.path, "rev-parse", "HEAD")
}

func (a *agent) handOver() HandedOver {
	a.t.Helper()
	out, err := a.m.HandOver(ctx(a.t), a.p, a.req.AgentID, a.req.Alias, "")
	if err != nil {
		a.t.Fatal(err)
	}
	return out
}

// nothingLeft fails when anything of the alias is still there.
func (l *lab) nothingLeft(req AddRequest) {
	l.t.Helper()
	if exists(req.Path) {
		l.t.Errorf("%s is left", req.Path)
	}
	admins, _ := os.ReadDir(filepath.Join(l.mirror(), "worktrees"))
	for _, e := range admins {
		text, _ := os.ReadFile(filepath.Join(l.mirror(), "worktrees", e.Name(), "gitdir"))
		if len(text) == 0 || strings.HasPrefix(string(text), req.Path+"/") {
			l.t.Errorf("admin folder %s is left", e.Name())
		}
	}
	out := git(l.t, l.mirror(), "for-each-ref", "--format=%(refname)")
	for _, ref := range strings.Fields(out) {
		if ref == agentRef(req.Alias) || strings.HasSuffix(ref, string(req.AgentID)) {
			l.t.Errorf("%s is left", ref)
		}
	}
	if exists(recordPath(l.mirror(), req.Alias)) {
		l.t.Error("the record is left")
	}
	_ = filepath.WalkDir(l.mirror(), func(path string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".lock") {
			l.t.Errorf("%s is left", path)
		}
		return nil
	})
}

// snapshot sums up everything in the user's repository that must not change:
// references, configuration, hooks, index, working files.
func snapshot(t testing.TB, repo string) map[string]string {
	t.Helper()
	s := map[string]string{}
	err := filepath.WalkDir(repo, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(repo, path)
		if rel == ".git/objects" {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			s[rel] = read(t, path)
		} else {
			s[rel] = d.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// changes lists what differs between two snapshots.
func changes(a, b map[string]string) []string {
	var out []string
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			out = append(out, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

func wantCode(t testing.TB, err error, code cw.Code) {
	t.Helper()
	if cw.ErrorCode(err) != code {
		t.Errorf("code %q, want %q: %v", cw.ErrorCode(err), code, err)
	}
	if err != nil && cw.ErrorHint(err) == "" {
		t.Errorf("no hint: %v", err)
	}
}
