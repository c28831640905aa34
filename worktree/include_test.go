package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func TestInclude(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		patterns string
		files    map[string]string // in the checkout
		prepare  func(t *testing.T, repo string)
		want     []string
		warnings int
	}{
		{name: "matched and ignored", patterns: ".env*\n", files: map[string]string{".env": "1", "sub/.env.local": "2"}, want: []string{".env", "sub/.env.local"}},
		{name: "matched, not ignored", patterns: "notes.txt\n", files: map[string]string{"notes.txt": "1"}},
		{name: "ignored, not matched", patterns: ".env\n", files: map[string]string{"x.log": "1"}},
		{name: "tracked", patterns: "README.md\n"},
		{name: "anchored", patterns: "/.env\n", files: map[string]string{".env": "1", "sub/.env": "2"}, want: []string{".env"}},
		{name: "negated", patterns: ".env*\n!.env.prod\n", files: map[string]string{".env": "1", ".env.prod": "2"}, want: []string{".env"}},
		{name: "folder", patterns: "build/\n", files: map[string]string{"build/a": "1", "build/deep/b": "2", "sub/build/c": "3"}, want: []string{"build/a", "build/deep/b", "sub/build/c"}},
		{name: "comments and blanks", patterns: "# .log\n\n  \n.env\n", files: map[string]string{".env": "1", "x.log": ""}, want: []string{".env"}},
		{name: "strange names", patterns: "*.log\n", files: map[string]string{"a b.log": "1", "-c.log": "2", "d\ne.log": "3", "\xff.log": "4", "\"q\".log": "5"}, want: []string{"\"q\".log", "-c.log", "a b.log", "d\ne.log", "\xff.log"}},
		{name: "cw's own folders", patterns: "*\n", files: map[string]string{".cw/output/x.log": "1", ".env": "2"}, want: []string{".env"}},
		{name: "links out of the checkout", patterns: ".env*\nbuild\n", prepare: func(t *testing.T, repo string) {
			outside := t.TempDir()
			write(t, outside, "env", "s")
			write(t, outside, "data/x", "s")
			write(t, repo, ".git/info/exclude", "build\n")
			_ = os.Symlink(filepath.Join(outside, "env"), filepath.Join(repo, ".env"))
			_ = os.Symlink(filepath.Join(outside, "data"), filepath.Join(repo, "build"))
			_ = os.Symlink(filepath.Join(outside, "none"), filepath.Join(repo, ".env2"))
			_ = syscall.Mkfifo(filepath.Join(outside, "fifo"), 0o600)
			_ = os.Symlink(filepath.Join(outside, "fifo"), filepath.Join(repo, ".env3"))
		}, want: []string{".env", "build -> OUTSIDE/data"}, warnings: 2},
		{name: "links inside the checkout", patterns: ".env*\n", files: map[string]string{"src/a": "1"}, prepare: func(t *testing.T, repo string) {
			_ = os.Symlink("README.md", filepath.Join(repo, ".env"))
			_ = os.Symlink("src", filepath.Join(repo, ".env2"))
			_ = os.Symlink(filepath.Join(repo, "README.md"), filepath.Join(repo, "src/.env3"))
			_ = os.Symlink("none", filepath.Join(repo, ".env4"))
			git(t, repo, "add", "src/a")
			git(t, repo, "commit", "-qm", "src")
		}, want: []string{".env -> README.md", ".env2 -> src", ".env4 -> none", "src/.env3 -> ../README.md"}},
		{name: "links to what the worktree does not have", patterns: ".env*\n", files: map[string]string{"x.log": "1", "build/a": "1"}, prepare: func(t *testing.T, repo string) {
			_ = os.Symlink("x.log", filepath.Join(repo, ".env"))
			_ = os.Symlink("build", filepath.Join(repo, ".env2"))
			_ = os.Symlink(filepath.Dir(repo), filepath.Join(repo, ".env3"))
		}, want: []string{".env"}, warnings: 2},
		{name: "link that leads out by another", patterns: ".env*\n", prepare: func(t *testing.T, repo string) {
			outside := t.TempDir()
			write(t, outside, "env", "s")
			_ = os.Symlink(filepath.Join(outside, "env"), filepath.Join(repo, ".env.real"))
			_ = os.Symlink(".env.real", filepath.Join(repo, ".env"))
		}, want: []string{".env -> .env.real", ".env.real"}},
		{name: "FIFO", patterns: "*.log\n", files: map[string]string{"a.log": "1"}, prepare: func(t *testing.T, repo string) {
			_ = syscall.Mkfifo(filepath.Join(repo, "b.log"), 0o600)
		}, want: []string{"a.log"}},
		{name: "pattern file is a link", files: map[string]string{".env": "1", "real": ".env\n"}, prepare: func(t *testing.T, repo string) {
			_ = os.Symlink("real", filepath.Join(repo, includeFile))
		}},
		{name: "already in the base", patterns: "kept.log\n", files: map[string]string{"kept.log": "mine"}, prepare: func(t *testing.T, repo string) {
			git(t, repo, "checkout", "-q", "-b", "other")
			git(t, repo, "add", "-f", "kept.log")
			git(t, repo, "commit", "-qm", "tracked here")
			git(t, repo, "rm", "-q", "--cached", "kept.log")
		}, warnings: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			for name, text := range test.files {
				write(t, l.repo, name, text)
			}
			if test.patterns != "" {
				write(t, l.repo, includeFile, test.patterns)
			}
			if test.prepare != nil {
				test.prepare(t, l.repo)
			}
			a := l.add("brave-otter")
			got := []string{}
			for name, hash := range a.added.Included {
				if target, err := os.Readlink(filepath.Join(a.path, name)); err == nil && hash == linkMark+target {
					if filepath.IsAbs(target) {
						target = "OUTSIDE/" + filepath.Base(target)
					}
					got = append(got, name+" -> "+target)
					continue
				}
				got = append(got, name)
				if text := read(t, filepath.Join(a.path, name)); sum(text) != hash {
					t.Errorf("%q: hash of %q is %s", name, text, hash)
				}
				if info, err := os.Lstat(filepath.Join(a.path, name)); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%q is not a regular file", name)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(append([]string{}, test.want...), got); diff != "" {
				t.Error(diff)
			}
			if len(a.added.Warnings) != test.warnings {
				t.Errorf("warnings %q", a.added.Warnings)
			}
			if look := a.look(); look.Work() {
				t.Errorf("look %+v", look)
			}
		})
	}
}

func TestIncludeBounds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	write(t, l.repo, includeFile, "*.log\n")
	for i := range includeMaxFiles + 5 {
		write(t, l.repo, fmt.Sprintf("%04d.log", i), "x")
	}
	big := filepath.Join(l.repo, "0000-big.log")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, includeMaxBytes+1); err != nil {
		t.Fatal(err)
	}
	a := l.add("brave-otter")
	if len(a.added.Included) != includeMaxFiles || a.added.Included["0000-big.log"] != "" {
		t.Errorf("%d files", len(a.added.Included))
	}
	if got := strings.Join(a.added.Warnings, "\n"); !strings.Contains(got, "6 files") {
		t.Errorf("warnings %s", got)
	}
}

// TestChooseEntries: a folder in which git tracks nothing is taken whole or not at
// all, and what fits behind it still is.
func TestChooseEntries(t *testing.T) {
	t.Parallel()
	file := func(name string, bytes int64) includeEntry {
		return includeEntry{name: name, paths: []string{name}, bytes: bytes}
	}
	files := []includeEntry{
		file(".env", 1), file("dep/a", 1), file("dep/deep/b", 1), file("dep/deep/c", 1), file("src/.env", 1),
		file("src/dep/a", 1), file("src/dep/b", 1), file("zz/big", 50),
	}
	tracked := trackedFolders([]byte("README.md\x00src/lib/main.go\x00"))
	grouped := groupEntries(files, tracked)
	chosen, left := chooseEntries(grouped, 4, 49)
	if diff := cmp.Diff([]string{".env", "dep/a", "dep/deep/b", "dep/deep/c"}, chosen); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.name)
	}
	if diff := cmp.Diff([]string{"src/.env", "src/dep/", "zz/"}, names); diff != "" {
		t.Error(diff)
	}
	if chosen, _ = chooseEntries(grouped, 3, 60); slices.Contains(chosen, "dep/a") || !slices.Contains(chosen, "zz/big") {
		t.Errorf("chosen %q", chosen)
	}
	if got := strings.Join(leftOut(left), "\n"); !strings.Contains(got, `"src/dep/"`) || !strings.Contains(got, `"zz/"`) || !strings.Contains(got, `"src/.env"`) {
		t.Error(got)
	}
}

// TestIncludeFolderAboveTheLimit: nothing of it arrives, the rest does.
func TestIncludeFolderAboveTheLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	write(t, l.repo, includeFile, "build/\n.env\n")
	write(t, l.repo, ".env", "A=1\n")
	for i := range includeMaxFiles + 1 {
		write(t, l.repo, fmt.Sprintf("build/%04d", i), "x")
	}
	a := l.add("brave-otter")
	if len(a.added.Included) != 1 || a.added.Included[".env"] == "" || exists(filepath.Join(a.path, "build")) {
		t.Errorf("%d files", len(a.added.Included))
	}
	if got := strings.Join(a.added.Warnings, "\n"); !strings.Contains(got, `"build/", of which nothing was copied: it has 2001 files`) {
		t.Errorf("warnings %s", got)
	}
}

// TestIncludedIsWorkOnceChanged: unchanged or removed it is none.
func TestIncludedIsWorkOnceChanged(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	write(t, l.repo, includeFile, ".env*\n")
	for _, name := range []string{".env1", ".env2", ".env3", ".env4"} {
		write(t, l.repo, name, "A=1\n")
	}
	a := l.add("brave-otter")
	write(t, a.path, ".env1", "A=2\n")
	write(t, a.path, ".env2", "A=1\n") // written again, the same
	if err := os.Remove(filepath.Join(a.path, ".env3")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.path, ".env4")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(a.path, ".env4"), 0o600); err != nil {
		t.Fatal(err)
	}
	if look := a.look(); !slices.Equal(look.Dirty, []string{".env1", ".env4"}) {
		t.Errorf("dirty %q", look.Dirty)
	}
	// No longer ignored, an unchanged one is still none.
	write(t, a.path, ".gitignore", "")
	if look := a.look(); !slices.Equal(look.Dirty, []string{".env1", ".env4", ".gitignore"}) {
		t.Errorf("dirty %q", look.Dirty)
	}
}
