package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	head := git(t, repo, "rev-parse", "HEAD")
	gitDir, _ := filepath.EvalSymlinks(filepath.Join(repo, ".git"))
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, repo, "worktree", "add", "-q", "--detach", linked)
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, repo, "clone", "-q", "--bare", repo, bare)
	ofBare := filepath.Join(t.TempDir(), "of bare")
	git(t, bare, "worktree", "add", "-q", ofBare, "-b", "side")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	strange := filepath.Join(t.TempDir(), "a b\nc")
	git(t, "/", "clone", "-q", repo, strange)

	m := New(Options{ReposDir: t.TempDir()})
	tests := []struct {
		path string
		want Repository
	}{
		{repo, Repository{repo, repo, gitDir, "app", "main", head}},
		{filepath.Join(repo, "src"), Repository{repo, repo, gitDir, "app", "main", head}},
		{filepath.Join(repo, "src", "a.txt"), Repository{repo, repo, gitDir, "app", "main", head}},
		{link, Repository{repo, repo, gitDir, "app", "main", head}},
		{linked, Repository{linked, repo, gitDir, "app", "", head}},
		{ofBare, Repository{ofBare, ofBare, bare, "bare", "side", head}},
		{strange, Repository{strange, strange, filepath.Join(strange, ".git"), "a b\nc", "main", head}},
	}
	for _, test := range tests {
		got, err := m.Inspect(ctx(t), test.path)
		if err != nil {
			t.Errorf("%q: %v", test.path, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q: %s", test.path, diff)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, says, hint string
		prepare          func(t *testing.T) string
	}{
		{"no such path", "does not exist", "path", func(t *testing.T) string { return filepath.Join(t.TempDir(), "none") }},
		{"not a repository", "not in a git repository", "git init", func(t *testing.T) string { return t.TempDir() }},
		{"bare", "bare repository", "worktree add", func(t *testing.T) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q", "--bare")
			return dir
		}},
		{"no commits", "no commits yet on main", "commit --allow-empty", func(t *testing.T) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			return dir
		}},
		{"inside .git", "inside a git directory", "folder", func(t *testing.T) string { return filepath.Join(newRepo(t), ".git") }},
		{"another owner", "belongs to another user", "safe.directory", func(t *testing.T) string {
			repo := newRepo(t)
			if err := os.Chown(repo, 12345, 12345); err != nil {
				missing(t, "only root can give a folder away")
			}
			return repo
		}},
		{"broken .git", "not in a git repository", "git init", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, dir, ".git", "gitdir: /nowhere\n")
			return dir
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := New(Options{ReposDir: t.TempDir()})
			_, err := m.Inspect(ctx(t), test.prepare(t))
			want := cw.CodeInvalid
			if test.name == "no such path" {
				want = cw.CodeNotFound
			}
			wantCode(t, err, want)
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(cw.ErrorHint(err), test.hint) {
				t.Errorf("%v (%s), want %q (%q)", err, cw.ErrorHint(err), test.says, test.hint)
			}
		})
	}
}

func TestGitVersion(t *testing.T) {
	t.Parallel()
	fake := func(prints string) string {
		path := filepath.Join(t.TempDir(), "git")
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+prints+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ git, version, says string }{
		{"", "", ""},
		{fake("git version 2.38.0"), "2.38.0", ""},
		{fake("git version 3.1.2.dirty (Apple Git-154)"), "3.1.2.dirty", ""},
		{fake("git version 2.37.9"), "", "too old"},
		{fake("git version 1.9"), "", "too old"},
		{fake("I am a teapot"), "", "does not tell its version"},
		{filepath.Join(t.TempDir(), "none"), "", "not installed"},
		{"no-such-git-binary", "", "not installed"},
	}
	for _, test := range tests {
		version, err := New(Options{Git: test.git}).GitVersion(ctx(t))
		if test.says == "" {
			if err != nil || test.version != "" && version != test.version {
				t.Errorf("%s: %q, %v", test.git, version, err)
			}
			continue
		}
		wantCode(t, err, cw.CodeInvalid)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.git, err, test.says)
		}
	}
}

func TestResolveBaseRefuses(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "branch", "feature/login")
	git(t, repo, "branch", "release-2")
	git(t, repo, "tag", "both")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "second")
	git(t, repo, "branch", "both")
	unborn := filepath.Join(t.TempDir(), "unborn")
	git(t, "/", "init", "-q", unborn)
	blob := git(t, repo, "rev-parse", "HEAD:README.md")

	tests := []struct{ checkout, base, says, hint string }{
		{repo, "nope-at-all", "not known", "git branch -a"},
		{repo, "feature/logn", "not known", "feature/login"},
		{repo, "login", "not known", "feature/login"},
		{repo, "relase-2", "not known", "release-2"},
		{repo, "both", "both a branch and a tag", "heads/both"},
		{repo, blob, "not a commit", "branch"},
		{repo, "HEAD:src", "not a commit", "branch"},
		{repo, "HEAD~1..HEAD", "not one commit", "branch"},
		{repo, "--output=/tmp/x", "starts with a hyphen", "branch"},
		{repo, "-", "starts with a hyphen", "branch"},
		{repo, "main\nother", "control character", "branch"},
		{repo, strings.Repeat("x", 2000), "longer", "branch"},
		{unborn, "", "no commits yet", "commit"},
		{unborn, "main", "no commits yet", "commit"},
		{t.TempDir(), "main", "not in a git repository", "git init"},
	}
	m := New(Options{ReposDir: t.TempDir()})
	for _, test := range tests {
		_, err := m.ResolveBase(ctx(t), test.checkout, test.base)
		want := cw.CodeInvalid
		if test.says == "not known" {
			want = cw.CodeNotFound
		}
		wantCode(t, err, want)
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(cw.ErrorHint(err), test.hint) {
			t.Errorf("%.40q: %v (%s), want %q (%q)", test.base, err, cw.ErrorHint(err), test.says, test.hint)
		}
	}
	for base, branch := range map[string]string{"heads/both": "both", "tags/both": ""} {
		if got, err := m.ResolveBase(ctx(t), repo, base); err != nil || got.Branch != branch {
			t.Errorf("%s: %+v, %v", base, got, err)
		}
	}
}

func TestDirtyFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := snapshot(t, l.repo)
	count := func() int {
		n, err := l.m.DirtyFiles(ctx(t), l.repo)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d in a clean checkout", n)
	}
	if got := changes(before, snapshot(t, l.repo)); got != nil {
		t.Errorf("looking changed %v", got)
	}
	write(t, l.repo, "README.md", "changed\n")
	write(t, l.repo, "new/a", "")
	write(t, l.repo, "new/b\nc", "")
	write(t, l.repo, "noise.log", "")
	if n := count(); n != 3 {
		t.Errorf("%d, want 3", n)
	}
	_, err := l.m.DirtyFiles(ctx(t), t.TempDir())
	wantCode(t, err, cw.CodeInvalid)
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	check := func(wantName, wantEmail string, wantOK bool) {
		t.Helper()
		name, email, ok, err := l.m.Identity(ctx(t), l.p)
		if err != nil || name != wantName || email != wantEmail || ok != wantOK {
			t.Errorf("%q %q %v %v", name, email, ok, err)
		}
	}
	check("Ada", "ada@example.com", true)
	git(t, l.repo, "config", "user.email", "ada@work.example")
	check("Ada", "ada@work.example", true)
	git(t, l.repo, "config", "user.name", "")
	check("", "ada@work.example", false)
	git(t, l.repo, "config", "extensions.worktreeConfig", "true")
	git(t, l.repo, "config", "--worktree", "user.name", "Ada at work")
	check("Ada at work", "ada@work.example", true)
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"main", "origin/main", "feature/login", "maim"}
	for name, want := range map[string][]string{
		"mian": {"main"}, "zzzz": nil, "main": {"main", "origin/main", "maim"}, "LOGIN": {"feature/login"},
	} {
		if diff := cmp.Diff(want, nearest(name, names)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
