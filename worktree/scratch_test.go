package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// scratchLab is a lab with a commit that only the mirror has, and a free path.
func scratchLab(t *testing.T) (l *lab, commit, path string) {
	t.Helper()
	l = newLab(t)
	commit = l.commitOn([]string{l.initiative("goal").begin()}, map[string]string{"x.txt": "x\n"})
	return l, commit, filepath.Join(l.home, "checks", "one")
}

func (l *lab) addScratch(commit, path string) {
	l.t.Helper()
	if err := scratchErr(l, commit, path); err != nil {
		l.t.Fatal(err)
	}
	if got := git(l.t, path, "rev-parse", "HEAD"); got != commit || git(l.t, path, "status", "--porcelain") != "" {
		l.t.Errorf("HEAD is %s, not %s", got, commit)
	}
}

func (l *lab) noScratchLeft(path string) {
	l.t.Helper()
	if exists(path) || exists(asidePath(path)) || exists(scratchRecord(l.mirror(), path)) {
		l.t.Error("something is left")
	}
	if names, _ := os.ReadDir(filepath.Join(l.mirror(), "worktrees")); len(names) > 0 {
		l.t.Errorf("admin folder %s is left", names[0].Name())
	}
}

func TestScratch(t *testing.T) {
	t.Parallel()
	l, commit, path := scratchLab(t)
	l.addScratch(commit, path)
	if _, err := tryGit(path, "symbolic-ref", "HEAD"); err == nil {
		t.Error("it is on a branch")
	}
	if got := read(t, filepath.Join(l.mirror(), "worktrees", "one", "locked")); got != scratchReason+"\n" {
		t.Errorf("lock reason %q", got)
	}
	// Asked again it stays as it is: a check may be running there.
	write(t, path, "built.o", "x")
	l.addScratchAgain(commit, path)
	if !exists(filepath.Join(path, "built.o")) {
		t.Error("it was made anew")
	}
	// At another commit it is made anew.
	next := l.commitOn([]string{commit}, map[string]string{"y.txt": "y\n"})
	l.addScratch(next, path)
	if exists(filepath.Join(path, "built.o")) {
		t.Error("what another check left is still there")
	}
	for range 2 {
		if err := l.m.RemoveScratch(ctx(t), l.p, path); err != nil {
			t.Fatal(err)
		}
		l.noScratchLeft(path)
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

func (l *lab) addScratchAgain(commit, path string) {
	l.t.Helper()
	if err := scratchErr(l, commit, path); err != nil {
		l.t.Fatal(err)
	}
}

func TestScratchRefuses(t *testing.T) {
	t.Parallel()
	l, commit, path := scratchLab(t)
	mine := filepath.Join(t.TempDir(), "mine")
	write(t, mine, "x", "x")
	wantCode(t, scratchErr(l, commit, mine), cw.CodeRefused)
	wantCode(t, l.m.RemoveScratch(ctx(t), l.p, mine), cw.CodeRefused)
	if !exists(filepath.Join(mine, "x")) {
		t.Error("somebody's file is gone")
	}
	a := l.add("brave-otter")
	wantCode(t, scratchErr(l, commit, a.path), cw.CodeRefused)
	wantCode(t, l.m.RemoveScratch(ctx(t), l.p, a.path), cw.CodeRefused)
	wantCode(t, scratchErr(l, strings.Repeat("1", len(commit)), path), cw.CodeNotFound)
	if err := scratchErr(l, commit, "x/y"); err == nil {
		t.Error("a relative path is accepted")
	}
	_, err := l.m.ScratchChanged(ctx(t), l.p, path, commit)
	wantCode(t, err, cw.CodeNotFound)
}

// TestScratchIsStubborn removes what a check made hard to remove.
func TestScratchIsStubborn(t *testing.T) {
	t.Parallel()
	l, commit, path := scratchLab(t)
	outside := t.TempDir()
	write(t, outside, "precious.txt", "x")
	l.addScratch(commit, path)
	write(t, path, "cache/deep/x", "x")
	_ = os.Symlink(outside, filepath.Join(path, "cache", "link"))
	_ = os.Chmod(filepath.Join(path, "cache/deep/x"), 0o400)
	_ = os.Chmod(filepath.Join(path, "cache/deep"), 0o500)
	_ = os.Chmod(filepath.Join(path, "cache"), 0)
	_ = os.Chmod(path, 0o500)
	if err := l.m.RemoveScratch(ctx(t), l.p, path); err != nil {
		t.Fatal(err)
	}
	l.noScratchLeft(path)
	// The folder itself was replaced by a link.
	l.addScratch(commit, path)
	_ = os.RemoveAll(path)
	_ = os.Symlink(outside, path)
	if err := l.m.RemoveScratch(ctx(t), l.p, path); err != nil {
		t.Fatal(err)
	}
	l.noScratchLeft(path)
	if read(t, filepath.Join(outside, "precious.txt")) != "x" {
		t.Error("a link was followed")
	}
	// Its folder is gone, its link to the mirror too.
	l.addScratch(commit, path)
	_ = os.RemoveAll(path)
	l.addScratch(commit, path)
	_ = os.Remove(filepath.Join(path, ".git"))
	if err := l.m.RemoveScratch(ctx(t), l.p, path); err != nil {
		t.Fatal(err)
	}
	l.noScratchLeft(path)
	// The mirror was made anew meanwhile.
	l.addScratch(commit, path)
	_ = os.RemoveAll(l.mirror())
	l.ensure()
	l.addScratch(git(t, l.repo, "rev-parse", "HEAD"), path)
}

func TestScratchChanged(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		do   func(path string)
		want []string
	}{
		"nothing":   {func(string) {}, nil},
		"untracked": {func(path string) { write(t, path, "built.o", "x"); write(t, path, "build/x.log", "x") }, nil},
		"changed":   {func(path string) { write(t, path, "README.md", "changed\n") }, []string{"README.md"}},
		"deleted":   {func(path string) { _ = os.Remove(filepath.Join(path, "src/a.txt")) }, []string{"src/a.txt"}},
		"staged":    {func(path string) { write(t, path, "new.txt", "x"); git(t, path, "add", ".") }, []string{"new.txt"}},
		"hidden": {func(path string) {
			git(t, path, "update-index", "--assume-unchanged", "README.md")
			write(t, path, "README.md", "changed\n")
		}, []string{"README.md"}},
		"executable": {func(path string) { _ = os.Chmod(filepath.Join(path, "README.md"), 0o755) }, []string{"README.md"}},
		"committed": {func(path string) {
			write(t, path, "README.md", "changed\n")
			git(t, path, "commit", "-qam", "by a check")
		}, []string{"HEAD", "README.md"}},
		"on a branch": {func(path string) { git(t, path, "checkout", "-qb", "mine") }, []string{"HEAD"}},
		"no .git":     {func(path string) { _ = os.Remove(filepath.Join(path, ".git")) }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, commit, path := scratchLab(t)
			l.addScratch(commit, path)
			test.do(path)
			got, err := l.m.ScratchChanged(ctx(t), l.p, path, commit)
			if d := cmp.Diff(test.want, got); err != nil || d != "" {
				t.Errorf("%v\n%s", err, d)
			}
			if err := l.m.RemoveScratch(ctx(t), l.p, path); err != nil {
				t.Fatal(err)
			}
			l.noScratchLeft(path)
		})
	}
}

func TestScratchSubmodule(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	git(t, repo, "submodule", "--quiet", "add", newRepo(t), "lib")
	git(t, repo, "commit", "-qm", "lib")
	l := newLabFor(t, repo)
	head := l.initiative("goal").begin()
	path := filepath.Join(l.home, "check")
	l.addScratch(head, path)
	if !exists(filepath.Join(path, "lib/README.md")) {
		t.Error("the submodule is empty")
	}
	if got, err := l.m.ScratchChanged(ctx(t), l.p, path, head); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := l.m.RemoveScratch(ctx(t), l.p, path); err != nil {
		t.Fatal(err)
	}
	l.noScratchLeft(path)
}

func scratchErr(l *lab, commit, path string) error {
	_, err := l.m.AddScratch(ctx(l.t), l.p, commit, path, nil)
	return err
}

// TestScratchGetsIncludedFiles: what .worktreeinclude and the project file name is
// there, and is no change of the commit.
func TestScratchGetsIncludedFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	write(t, l.repo, includeFile, ".env\n")
	write(t, l.repo, ".env", "KEY=1\n")
	write(t, l.repo, "x.log", "log\n")
	commit := git(t, l.repo, "rev-parse", "HEAD")
	l.add("brave-otter") // makes the mirror
	path := filepath.Join(t.TempDir(), "checks")
	warnings, err := l.m.AddScratch(ctx(t), l.p, commit, path, []string{"x.log"})
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if read(t, filepath.Join(path, ".env")) != "KEY=1\n" || read(t, filepath.Join(path, "x.log")) != "log\n" {
		t.Error("a file is not as it is in the checkout")
	}
	if changed, err := l.m.ScratchChanged(ctx(t), l.p, path, commit); err != nil || len(changed) > 0 {
		t.Errorf("changed %q, %v", changed, err)
	}
}
