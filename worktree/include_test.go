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
		{name: "link out of the checkout", patterns: ".env*\n", prepare: func(t *testing.T, repo string) {
			outside := t.TempDir()
			write(t, outside, "secret", "s")
			_ = os.Symlink(filepath.Join(outside, "secret"), filepath.Join(repo, ".env"))
			_ = os.Symlink("../../../../../../../../etc/passwd", filepath.Join(repo, ".env2"))
		}, warnings: 2},
		{name: "link inside the checkout", patterns: ".env\n", prepare: func(t *testing.T, repo string) {
			_ = os.Symlink("README.md", filepath.Join(repo, ".env"))
		}, want: []string{".env"}},
		{name: "link to a folder", patterns: ".env\n", prepare: func(t *testing.T, repo string) {
			_ = os.Symlink("src", filepath.Join(repo, ".env"))
		}, warnings: 1},
		{name: "folder that is a link out", patterns: "build/\nbuild\n", prepare: func(t *testing.T, repo string) {
			outside := t.TempDir()
			write(t, outside, "secret", "s")
			git(t, repo, "config", "core.excludesFile", "/dev/null")
			write(t, repo, ".git/info/exclude", "build\n")
			_ = os.Symlink(outside, filepath.Join(repo, "build"))
		}, warnings: 1},
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
	if got := strings.Join(a.added.Warnings, "\n"); !strings.Contains(got, "200 MiB") || !strings.Contains(got, "5 of 2006 files") {
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
