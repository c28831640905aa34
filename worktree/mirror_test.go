package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

func refsOf(t testing.TB, dir string, prefixes ...string) []string {
	t.Helper()
	out := git(t, dir, append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, prefixes...)...)
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

func TestMirror(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	git(t, l.repo, "branch", "feature/x")
	git(t, l.repo, "tag", "-a", "v1", "-m", "one")
	git(t, l.repo, "remote", "add", "origin", "https://example.com/x.git")
	l.ensure()
	head := git(t, l.repo, "rev-parse", "HEAD")
	want := []string{"refs/remotes/feature/x/HEAD " + head, "refs/remotes/main/HEAD " + head, "refs/remotes/origin/feature/x " + head, "refs/remotes/origin/main " + head, "refs/tags/v1 " + git(t, l.repo, "rev-parse", "v1")}
	if diff := cmp.Diff(want, refsOf(t, l.mirror())); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string]string{"gc.auto": "0", "user.name": "Ada", "core.bare": "true"} {
		if got := git(t, l.mirror(), "config", "--local", key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if out := git(t, l.mirror(), "remote"); out != "" {
		t.Errorf("remote %s", out)
	}
	if links(t, filepath.Join(l.mirror(), "objects")) < 2 {
		t.Error("objects are not hard links")
	}

	// Heads come, move and go; a head may become a folder of heads; tags that
	// agents made stay.
	git(t, l.mirror(), "update-ref", "refs/tags/by-agent", head)
	git(t, l.repo, "commit", "-q", "--allow-empty", "-m", "more")
	git(t, l.repo, "branch", "-D", "feature/x")
	git(t, l.repo, "branch", "feature", "HEAD~1")
	git(t, l.repo, "tag", "-f", "v1", "HEAD")
	l.ensure()
	now := git(t, l.repo, "rev-parse", "HEAD")
	want = []string{"refs/remotes/feature/HEAD " + head, "refs/remotes/main/HEAD " + now, "refs/remotes/origin/feature " + head, "refs/remotes/origin/main " + now, "refs/tags/by-agent " + head, "refs/tags/v1 " + now}
	if diff := cmp.Diff(want, refsOf(t, l.mirror())); diff != "" {
		t.Error(diff)
	}

	// Nothing changed: no transfer.
	l.calls = nil
	l.ensure()
	if i := slices.IndexFunc(l.calls, func(c call) bool { return c.args[0] == "fetch" }); i >= 0 {
		t.Errorf("fetched although nothing changed: %v", l.calls[i])
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

// links gives the number of names of the first object file found.
func links(t testing.TB, dir string) (n uint64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && n == 0 {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			n = uint64(info.Sys().(*syscall.Stat_t).Nlink)
		}
		return nil
	})
	return n
}

// TestMirrorKinds works through whole lives in unusual repositories.
func TestMirrorKinds(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T) string{
		"packed": func(t *testing.T) string {
			repo := newRepo(t)
			git(t, repo, "gc", "-q")
			return repo
		},
		"sha256": func(t *testing.T) string { return newRepo(t, "--object-format=sha256") },
		"shallow": func(t *testing.T) string {
			full := newRepo(t)
			for range 3 {
				git(t, full, "commit", "-q", "--allow-empty", "-m", "more")
			}
			dir := filepath.Join(t.TempDir(), "shallow")
			git(t, "/", "clone", "-q", "--depth=2", "file://"+full, dir)
			return dir
		},
		"borrowed objects": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "shared")
			git(t, "/", "clone", "-q", "--shared", newRepo(t), dir)
			return dir
		},
		"worktreeConfig": func(t *testing.T) string {
			repo := newRepo(t)
			git(t, repo, "config", "extensions.worktreeConfig", "true")
			return repo
		},
		"strange path": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "it's a \"b\"\nc:d")
			git(t, "/", "clone", "-q", newRepo(t), dir)
			return dir
		},
		"linked checkout of a bare one": func(t *testing.T) string {
			bare := filepath.Join(t.TempDir(), "bare.git")
			git(t, "/", "clone", "-q", "--bare", newRepo(t), bare)
			dir := filepath.Join(t.TempDir(), "of bare")
			git(t, bare, "worktree", "add", "-q", dir, "main")
			return dir
		},
		"owned by another, declared safe": func(t *testing.T) string {
			repo := newRepo(t)
			git(t, repo, "config", "--global", "--add", "safe.directory", repo)
			if err := os.Chown(repo, 12345, 12345); err != nil {
				missing(t, "only root can give a folder away")
			}
			if err := os.Chown(filepath.Join(repo, ".git"), 12345, 12345); err != nil {
				t.Fatal(err)
			}
			return repo
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabFor(t, make(t))
			a := l.add("brave-otter")
			head := a.commit("x.txt", "x\n")
			write(t, a.path, "y.txt", "y\n")
			look := a.look()
			if look.Head != head || look.Commits != 1 || !slices.Equal(look.Dirty, []string{"y.txt"}) || look.Stat != (cw.Stat{Files: 1, Additions: 1}) {
				t.Errorf("look %+v", look)
			}
			out := a.handOver()
			if out.Note != "" || git(t, l.repo, "rev-parse", "refs/heads/agent/brave-otter") != head {
				t.Errorf("handed over %+v", out)
			}
			git(t, l.repo, "commit", "-q", "--allow-empty", "-m", "later")
			b := l.add("calm-fox")
			if b.added.HeadCommit != git(t, l.repo, "rev-parse", "HEAD") {
				t.Error("the second agent starts from an old commit")
			}
			git(t, l.mirror(), "fsck", "--connectivity-only")
		})
	}
}

func TestMirrorAcrossFileSystems(t *testing.T) {
	t.Parallel()
	other, err := os.MkdirTemp("/dev/shm", "cw-test-*")
	if err != nil {
		missing(t, "no second file system at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	l := newLab(t)
	l.home = other
	l.m.repos = filepath.Join(other, "repos")
	note, err := l.m.EnsureMirror(ctx(t), l.p)
	if err != nil || !strings.Contains(note, "copied") {
		t.Errorf("note %q, %v", note, err)
	}
	if links(t, filepath.Join(l.mirror(), "objects")) != 1 {
		t.Error("objects are linked")
	}
	if note, err := l.m.EnsureMirror(ctx(t), l.p); err != nil || note != "" {
		t.Errorf("second time: note %q, %v", note, err)
	}
	a := l.add("brave-otter")
	a.commit("x.txt", "x\n")
	a.handOver()
}

func TestEnsureMirrorRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, says string
		code       cw.Code
		prepare    func(l *lab)
	}{
		{"moved away", "not at", cw.CodeNotFound, func(l *lab) {
			if err := os.Rename(l.repo, l.repo+"-moved"); err != nil {
				l.t.Fatal(err)
			}
		}},
		{"no repository any more", "not a git repository any more", cw.CodeNotFound, func(l *lab) {
			if err := os.RemoveAll(filepath.Join(l.repo, ".git")); err != nil {
				l.t.Fatal(err)
			}
		}},
		{"another repository in its place", "another repository", cw.CodeInvalid, func(l *lab) {
			git(l.t, l.repo, "init", "-q", "--separate-git-dir="+filepath.Join(l.t.TempDir(), "elsewhere"))
		}},
		{"partial clone", "partial clone", cw.CodeInvalid, func(l *lab) {
			git(l.t, l.repo, "config", "remote.origin.promisor", "true")
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			test.prepare(l)
			_, err := l.m.EnsureMirror(ctx(t), l.p)
			wantCode(t, err, test.code)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if exists(l.mirror()) {
				t.Error("a mirror was made")
			}
		})
	}
}

// TestMovedLater moves the repository away while an agent works in its mirror.
func TestMovedLater(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	head := a.commit("x.txt", "x\n")
	if err := os.Rename(l.repo, l.repo+"-moved"); err != nil {
		t.Fatal(err)
	}
	if look := a.look(); look.Head != head || look.Commits != 1 {
		t.Errorf("look %+v", look)
	}
	_, err := l.m.HandOver(ctx(t), l.p, a.req.AgentID, a.req.Alias, "")
	wantCode(t, err, cw.CodeNotFound)
}

func TestRemoveMirror(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := snapshot(t, l.repo)
	a := l.add("brave-otter")
	wantCode(t, l.m.RemoveMirror(ctx(t), l.p), cw.CodeRefused)
	if err := l.m.Discard(ctx(t), l.p, a.req.Alias, a.path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.m.RemoveMirror(ctx(t), l.p); err != nil {
			t.Fatal(err)
		}
	}
	if entries, _ := os.ReadDir(l.m.repos); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
	if got := changes(before, snapshot(t, l.repo)); got != nil {
		t.Errorf("the user's repository changed: %v", got)
	}
	l.add("calm-fox")
}

// TestSettings checks what of the user's configuration reaches the worktree.
func TestSettings(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for key, value := range map[string]string{
		"user.email": "ada@work.example", "user.useConfigOnly": "true", "core.autocrlf": "input",
		"alias.evil": "!touch /tmp/x", "core.sshCommand": "evil", "filter.x.clean": "evil", "core.fsmonitor": "evil",
		"user.name": "Ada \"the\" first; # \\ x",
	} {
		git(t, l.repo, "config", key, value)
	}
	write(t, l.repo, ".git/info/exclude", "*.local\n")
	write(t, l.repo, ".git/info/attributes", "*.txt eol=crlf\n")
	a := l.add("brave-otter")
	for key, want := range map[string]string{
		"user.email": "ada@work.example", "user.useConfigOnly": "true", "core.autocrlf": "input", "user.name": "Ada \"the\" first; # \\ x",
		"alias.evil": "", "core.sshCommand": "", "filter.x.clean": "", "core.fsmonitor": "", "gc.auto": "0", "commit.gpgSign": "false",
	} {
		if got, _ := tryGit(a.path, "config", "--local", key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if got := read(t, filepath.Join(a.path, "src/a.txt")); got != "one\r\ntwo\r\nthree\r\n" {
		t.Errorf("attributes do not count: %q", got)
	}
	write(t, a.path, "x.local", "")
	write(t, a.path, ".cw/input/a", "")
	write(t, a.path, ".cw/output/a", "")
	write(t, a.path, ".cw/tmp/a", "")
	write(t, a.path, ".cw/prompts/a", "")
	if got := git(t, a.path, "status", "--porcelain", "-uall"); got != "?? .cw/prompts/a" {
		t.Errorf("status in the worktree: %q", got)
	}
	if look := a.look(); !slices.Equal(look.Dirty, []string{".cw/prompts/a"}) {
		t.Errorf("dirty %q", look.Dirty)
	}

	// Later changes reach it at the next sync.
	git(t, l.repo, "config", "user.email", "ada@new.example")
	l.ensure()
	if got := git(t, a.path, "config", "user.email"); got != "ada@new.example" {
		t.Errorf("after a change: %q", got)
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

func TestSubmodules(t *testing.T) {
	t.Parallel()
	lib := newRepo(t)
	repo := newRepo(t)
	git(t, repo, "submodule", "--quiet", "add", lib, "libs/the lib")
	git(t, repo, "commit", "-qm", "with a submodule")
	l := newLabFor(t, repo)
	before := snapshot(t, repo)
	a := l.add("brave-otter")
	sub := filepath.Join(a.path, "libs/the lib")
	if got := read(t, filepath.Join(sub, "README.md")); got != "hello\n" {
		t.Errorf("submodule holds %q", got)
	}
	if look := a.look(); look.Work() {
		t.Errorf("look %+v", look)
	}
	write(t, sub, "new.txt", "x")
	git(t, sub, "add", ".")
	git(t, sub, "commit", "-qm", "in the submodule")
	if _, err := tryGit(sub, "push", "origin", "HEAD:refs/heads/stolen"); err == nil {
		t.Error("an agent can push into the user's submodule")
	}
	if look := a.look(); !slices.Equal(look.Dirty, []string{"libs/the lib"}) {
		t.Errorf("dirty %q", look.Dirty)
	}
	if got := changes(before, snapshot(t, repo)); got != nil {
		t.Errorf("the user's repository changed: %v", got)
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}

	t.Run("only in a linked worktree", func(t *testing.T) {
		t.Parallel()
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, "/", "clone", "-q", repo, clone)
		linked := filepath.Join(t.TempDir(), "linked")
		git(t, clone, "worktree", "add", "-q", "--detach", linked)
		git(t, linked, "submodule", "--quiet", "update", "--init")
		l := newLabFor(t, clone)
		a := l.add("brave-otter")
		if got := read(t, filepath.Join(a.path, "libs/the lib", "README.md")); got != "hello\n" || len(a.added.Warnings) > 0 {
			t.Errorf("submodule holds %q, warnings %q", got, a.added.Warnings)
		}
		if look := a.look(); look.Work() {
			t.Errorf("look %+v", look)
		}
	})
	t.Run("not initialised", func(t *testing.T) {
		t.Parallel()
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, "/", "clone", "-q", repo, clone)
		l := newLabFor(t, clone)
		l.ensure()
		a := l.add("brave-otter")
		if all := strings.Join(a.added.Warnings, "\n"); !strings.Contains(all, "libs/the lib") || !strings.Contains(all, "submodule update --init") {
			t.Errorf("warnings %q", all)
		}
		if look := a.look(); look.Work() {
			t.Errorf("look %+v", look)
		}
	})
}

func TestLinkObjectsStartsAgain(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	objects := filepath.Join(repo, ".git", "objects")
	if _, err := linkObjects(objects, filepath.Join(t.TempDir(), "o")); err != nil {
		t.Fatal(err)
	}
	if _, err := linkFile(filepath.Join(objects, "none"), filepath.Join(t.TempDir(), "x")); err != errMoving {
		t.Errorf("a file that is gone: %v", err)
	}
}
