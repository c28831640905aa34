package worktree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cw/internal/cw"
)

// TestLook puts worktrees into the states in which agents leave them.
func TestLook(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		do    func(a *agent)
		want  Look   // Head and Notes are checked by their own
		noted string // part of a note; "" for none
		head  string // "base", "none", or "" for anything but the base
	}{
		{name: "untouched", do: func(*agent) {}, want: Look{Branch: "agent/brave-otter"}, head: "base"},
		{name: "commits", do: func(a *agent) {
			a.commit("x.txt", "1\n2\n")
			a.commit("README.md", "bye\n")
		}, want: Look{Branch: "agent/brave-otter", Commits: 2, Stat: cw.Stat{Files: 2, Additions: 3, Deletions: 1}}},
		{name: "binary, renamed and removed files", do: func(a *agent) {
			a.commit("bin", "\x00\x01")
			git(a.t, a.path, "mv", "src/a.txt", "src/b.txt")
			git(a.t, a.path, "commit", "-qm", "rename")
			git(a.t, a.path, "rm", "-q", "README.md")
			git(a.t, a.path, "commit", "-qm", "remove")
		}, want: Look{Branch: "agent/brave-otter", Commits: 3, Stat: cw.Stat{Files: 3, Deletions: 1}}},
		{name: "every kind of change", do: func(a *agent) {
			write(a.t, a.path, "README.md", "changed\n")
			_ = os.Remove(filepath.Join(a.path, "src/a.txt"))
			write(a.t, a.path, "staged", "x")
			git(a.t, a.path, "add", "staged")
			write(a.t, a.path, "new/deep/file", "x")
			write(a.t, a.path, "noise.log", "x")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md", "new/deep/file", "src/a.txt", "staged"}, Ignored: []string{"noise.log"}}, head: "base"},
		{name: "mode", do: func(a *agent) { _ = os.Chmod(filepath.Join(a.path, "README.md"), 0o755) },
			want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md"}}, head: "base"},
		{name: "strange names", do: func(a *agent) {
			for _, name := range []string{" lead", "-rf", "a\nb", "q\"uote", "\xff\xfe", "tab\t", "é"} {
				write(a.t, a.path, name, "x")
			}
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{" lead", "-rf", "a\nb", "q\"uote", "tab\t", "é", "\xff\xfe"}}, head: "base"},
		{name: "cw's folders", do: func(a *agent) {
			write(a.t, a.path, ".cw/output/signal.json", "{}")
			write(a.t, a.path, ".cw/input/x", "{}")
			write(a.t, a.path, ".cw/other", "{}")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{".cw/other"}}, head: "base"},
		{name: "cw's folders committed", do: func(a *agent) {
			write(a.t, a.path, ".cw/output/signal.json", "{}\n")
			write(a.t, a.path, ".cw/other", "{}\n")
			git(a.t, a.path, "add", "-f", ".cw")
			git(a.t, a.path, "commit", "-qm", "too much")
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Reserved: []string{".cw/output/signal.json"}, Stat: cw.Stat{Files: 2, Additions: 2}}},
		{name: "another branch", do: func(a *agent) {
			git(a.t, a.path, "checkout", "-qb", "mine")
			a.commit("x.txt", "x\n")
		}, want: Look{Branch: "mine", Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}}, noted: "on mine, not on agent/brave-otter"},
		{name: "detached", do: func(a *agent) {
			git(a.t, a.path, "checkout", "-q", "--detach")
			a.commit("x.txt", "x\n")
		}, want: Look{Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}}, noted: "a detached HEAD"},
		{name: "orphan", do: func(a *agent) { git(a.t, a.path, "checkout", "-q", "--orphan", "fresh") },
			want: Look{Branch: "fresh", Dirty: []string{".gitignore", "README.md", "src/a.txt"}}, noted: "branch fresh does not exist", head: "none"},
		{name: "branch deleted", do: func(a *agent) { git(a.t, a.path, "update-ref", "-d", "HEAD") },
			want: Look{Branch: "agent/brave-otter", Dirty: []string{".gitignore", "README.md", "src/a.txt"}}, noted: "does not exist", head: "none"},
		{name: "refs packed", do: func(a *agent) {
			a.commit("x.txt", "x\n")
			git(a.t, a.path, "pack-refs", "--all")
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}}},
		{name: "worktree removed", do: func(a *agent) {
			a.commit("x.txt", "x\n")
			_ = os.RemoveAll(a.path)
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}, Missing: true}, noted: "gone"},
		{name: ".git replaced by a repository", do: func(a *agent) {
			_ = os.Remove(filepath.Join(a.path, ".git"))
			git(a.t, a.path, "init", "-q")
			a.commit("x.txt", "x\n")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"x.txt"}}, noted: ".git of the worktree was changed", head: "base"},
		{name: "index.lock", do: func(a *agent) {
			write(a.t, filepath.Join(a.mirror(), "worktrees/brave-otter"), "index.lock", "")
			write(a.t, a.path, "README.md", "changed\n")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md"}}, head: "base"},
		{name: "no index", do: func(a *agent) { _ = os.Remove(filepath.Join(a.mirror(), "worktrees/brave-otter/index")) },
			want: Look{Branch: "agent/brave-otter"}, head: "base"},
		{name: "index is a FIFO", do: func(a *agent) {
			index := filepath.Join(a.mirror(), "worktrees/brave-otter/index")
			_ = os.Remove(index)
			_ = syscall.Mkfifo(index, 0o600)
		}, want: Look{Branch: "agent/brave-otter"}, head: "base"},
		{name: "index is noise", do: func(a *agent) {
			write(a.t, filepath.Join(a.mirror(), "worktrees/brave-otter"), "index", "DIRC noise")
			write(a.t, a.path, "README.md", "changed\n")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md"}}, head: "base"},
		{name: "split index", do: func(a *agent) {
			git(a.t, a.path, "update-index", "--split-index")
			write(a.t, a.path, "README.md", "changed\n")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md"}}, head: "base"},
		{name: "assume unchanged and skip worktree", do: func(a *agent) {
			git(a.t, a.path, "update-index", "--assume-unchanged", "README.md")
			git(a.t, a.path, "update-index", "--skip-worktree", "src/a.txt")
			write(a.t, a.path, "README.md", "hidden\n")
			write(a.t, a.path, "src/a.txt", "hidden\n")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md", "src/a.txt"}}, head: "base"},
		{name: "excludes of the mirror edited", do: func(a *agent) {
			write(a.t, a.mirror(), "info/exclude", "*\n")
			write(a.t, a.mirror(), "info/global-exclude", "*\n")
			write(a.t, a.path, "new.txt", "x")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"new.txt"}}, head: "base"},
		{name: "merge in progress", do: func(a *agent) {
			git(a.t, a.path, "checkout", "-qb", "other")
			a.commit("README.md", "theirs\n")
			git(a.t, a.path, "checkout", "-q", "agent/brave-otter")
			a.commit("README.md", "ours\n")
			_, _ = tryGit(a.path, "merge", "other")
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Dirty: []string{"README.md"}, Stat: cw.Stat{Files: 1, Additions: 1, Deletions: 1}}},
		{name: "nested repositories", do: func(a *agent) {
			git(a.t, a.path, "init", "-q", "empty")
			git(a.t, a.path, "init", "-q", "full")
			write(a.t, a.path, "full/x", "x")
			git(a.t, filepath.Join(a.path, "full"), "add", ".")
			git(a.t, filepath.Join(a.path, "full"), "commit", "-qm", "x")
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"empty/", "full/"}}, head: "base"},
		{name: "links in a loop", do: func(a *agent) {
			_ = os.Symlink("loop", filepath.Join(a.path, "loop"))
			_ = os.Symlink("..", filepath.Join(a.path, "src/up"))
			_ = os.Symlink("/", filepath.Join(a.path, "root"))
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"loop", "root", "src/up"}}, head: "base"},
		{name: "FIFO in place of a file", do: func(a *agent) {
			_ = os.Remove(filepath.Join(a.path, "README.md"))
			_ = syscall.Mkfifo(filepath.Join(a.path, "README.md"), 0o600)
			_ = syscall.Mkfifo(filepath.Join(a.path, "pipe"), 0o600)
		}, want: Look{Branch: "agent/brave-otter", Dirty: []string{"README.md"}}, head: "base"},
		{name: "HEAD is noise", do: func(a *agent) {
			a.commit("x.txt", "x\n")
			write(a.t, filepath.Join(a.mirror(), "worktrees/brave-otter"), "HEAD", "ref: ../../../etc/passwd\n")
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}}, noted: "HEAD of the worktree names"},
		{name: "admin folder removed", do: func(a *agent) {
			a.commit("x.txt", "x\n")
			_ = os.RemoveAll(filepath.Join(a.mirror(), "worktrees/brave-otter"))
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}}, noted: "HEAD of the worktree"},
		{name: "replace refs and grafts", do: func(a *agent) {
			a.commit("x.txt", "x\n")
			git(a.t, a.path, "replace", "HEAD", a.req.Base.Commit)
		}, want: Look{Branch: "agent/brave-otter", Commits: 1, Stat: cw.Stat{Files: 1, Additions: 1}}},
		{name: "history rewritten", do: func(a *agent) {
			git(a.t, a.path, "checkout", "-q", "--orphan", "new")
			git(a.t, a.path, "commit", "-qm", "all anew")
			git(a.t, a.path, "branch", "-M", "new", "agent/brave-otter")
		}, want: Look{Branch: "agent/brave-otter", Commits: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			a := l.add("brave-otter")
			test.do(a)
			got := a.look()
			switch base := a.req.Base.Commit; {
			case test.head == "base" && got.Head != base, test.head == "none" && got.Head != "", test.head == "" && (got.Head == base || got.Head == ""):
				t.Errorf("head %q, base %s", got.Head, base)
			}
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, test.noted) || test.noted == "" && notes != "" {
				t.Errorf("notes %q, want %q", notes, test.noted)
			}
			got.Head, got.Tip, got.Notes = "", "", nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if left, _ := os.ReadDir(shadowDir(l.mirror())); len(left) > 0 {
				t.Errorf("shadows are left: %v", left)
			}
			if _, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{}); err != nil {
				t.Errorf("diff: %v", err)
			}
		})
	}
}

func TestLookRefuses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	unknown := a.lookRequest()
	unknown.Alias = "calm-fox"
	_, err := l.m.Look(ctx(t), unknown)
	wantCode(t, err, cw.CodeNotFound)

	if err := os.RemoveAll(a.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", a.path); err != nil {
		t.Fatal(err)
	}
	_, err = l.m.Look(ctx(t), a.lookRequest())
	wantCode(t, err, cw.CodeFailed)
}

// TestLookNeverHangs: git opens a FIFO named .gitignore and waits.
func TestLookNeverHangs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".gitignore", ".gitattributes"} {
		l := newLab(t)
		a := l.add("brave-otter")
		if err := os.MkdirAll(filepath.Join(a.path, "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(a.path, "deep", name), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, a.path, "deep/x", "x")
		l.m.git.limit = func(place) time.Duration { return 500 * time.Millisecond }
		begin := time.Now()
		look, err := l.m.Look(ctx(t), a.lookRequest())
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
		if err == nil && slices.Contains(look.Dirty, "deep/x") {
			continue // this file is not opened by this git
		}
		wantCode(t, err, cw.CodeTimeout)
	}
	// A FIFO in place of a reference.
	l := newLab(t)
	a := l.add("brave-otter")
	ref := filepath.Join(l.mirror(), "refs/heads/agent/brave-otter")
	_ = os.Remove(ref)
	if err := syscall.Mkfifo(ref, 0o600); err != nil {
		t.Fatal(err)
	}
	l.m.git.limit = func(place) time.Duration { return 500 * time.Millisecond }
	if _, err := l.m.Look(ctx(t), a.lookRequest()); err == nil {
		t.Error("no error for a branch that cannot be read")
	}
}

// TestLookSeesChangesOfTheSameMoment: a file that is changed right after git
// wrote the index has the same size and nearly the same time, on some file
// systems exactly the same. git then compares its time with that of the index,
// so the shadow's index must have the time of the original.
func TestLookSeesChangesOfTheSameMoment(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	for i := range 4 {
		write(t, a.path, "racy.txt", fmt.Sprintf("aa%02d", i))
		git(t, a.path, "add", "racy.txt")
		write(t, a.path, "racy.txt", fmt.Sprintf("bb%02d", i))
		if look := a.look(); !slices.Equal(look.Dirty, []string{"racy.txt"}) {
			t.Fatalf("round %d: dirty %q", i, look.Dirty)
		}
	}
	index := filepath.Join(l.mirror(), "worktrees/brave-otter/index")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(index, long, long); err != nil {
		t.Fatal(err)
	}
	_, s, err := l.m.look(ctx(t), a.lookRequest(), l.m.mirrorCommit(l.p))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	info, err := os.Stat(filepath.Join(s.dir, "index"))
	if err != nil || !info.ModTime().Equal(long) {
		t.Errorf("the index is of %s, the original of %s (%v)", info.ModTime(), long, err)
	}
}

// TestBehindALink: CW_HOME may be a symbolic link; git writes resolved paths.
func TestBehindALink(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.MkdirAll(l.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(l.home, link); err != nil {
		t.Fatal(err)
	}
	l.home, l.m.repos = link, filepath.Join(link, "repos")
	a := l.add("brave-otter")
	a.commit("x.txt", "x\n")
	write(t, a.path, "new.txt", "x\n")
	if look := a.look(); look.Commits != 1 || !slices.Equal(look.Dirty, []string{"new.txt"}) || len(look.Notes) > 0 {
		t.Errorf("%+v", look)
	}
	a.handOver()
	b := l.add("calm-fox")
	if err := l.m.Discard(ctx(t), l.p, "calm-fox", b.path); err != nil {
		t.Error(err)
	}
	l.nothingLeft(b.req)
	req := l.request("keen-lynx")
	if !runKilled(t, killedJob{Repos: l.m.repos, Req: req, At: "worktree/added"}) {
		t.Error("not killed")
	}
	if err := l.m.Discard(ctx(t), l.p, req.Alias, req.Path); err != nil {
		t.Error(err)
	}
	l.nothingLeft(req)
	if got := l.takeRestored(); got != nil {
		t.Errorf("restored %v", got)
	}
}

// TestShadowStatusEqualsGit compares our status with that of plain git run in
// the worktree, byte for byte, on generated trees and settings.
func TestShadowStatusEqualsGit(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	settings := []map[string]string{
		{}, {"core.fileMode": "false"}, {"core.autocrlf": "true"}, {"core.autocrlf": "input"}, {"core.eol": "crlf"},
		{"core.excludesFile": "EXCLUDES"}, {"core.attributesFile": "ATTRIBUTES"},
	}
	for i := range often(84) {
		keys := settings[i%len(settings)]
		repo := newRepo(t)
		for key, value := range keys {
			if value == "EXCLUDES" || value == "ATTRIBUTES" {
				write(t, filepath.Dir(repo), value, map[string]string{"EXCLUDES": "*.3\n", "ATTRIBUTES": "*.1 text eol=crlf\n"}[value])
				value = filepath.Join(filepath.Dir(repo), value)
			}
			git(t, repo, "config", key, value)
		}
		if i%3 == 1 {
			write(t, repo, ".gitattributes", "*.0 text\n*.2 -text\n*.1 text eol=crlf\nd1/* ident\n")
		}
		mutate(t, random, repo, 40)
		git(t, repo, "add", "-A")
		git(t, repo, "commit", "-qm", "generated")
		l := newLabFor(t, repo)
		a := l.add("brave-otter")
		for range 3 {
			mutate(t, random, a.path, 12)
			if random.IntN(2) == 0 {
				git(t, a.path, "add", "-A", "d0", "d1")
			}
			want, err := tryGit(a.path, statusArgs()...)
			if err != nil {
				t.Fatal(err)
			}
			_, s, err := l.m.look(ctx(t), a.lookRequest(), l.m.mirrorCommit(l.p))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.rawStatus(ctx(t))
			s.close()
			if err != nil {
				t.Fatal(err)
			}
			if want != string(got) {
				t.Errorf("case %d %v: git says\n%q\nwe say\n%q", i, keys, want, got)
			}
		}
	}
}

// mutate changes a folder at random: files of several endings made, changed,
// touched, removed, renamed, made executable, replaced by links.
func mutate(t *testing.T, random *rand.Rand, dir string, steps int) {
	t.Helper()
	name := func() string {
		return filepath.Join(dir, fmt.Sprintf("d%d", random.IntN(3)), fmt.Sprintf("f%d.%d", random.IntN(12), random.IntN(4)))
	}
	for _, d := range []string{"d0", "d1", "d2"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ends := []string{"\n", "\r\n", "$Id$\n", "\x00\n"}
	for range steps {
		path, err := name(), error(nil)
		switch random.IntN(8) {
		case 0, 1, 2, 3:
			_ = os.Remove(path)
			err = os.WriteFile(path, []byte(fmt.Sprint(random.IntN(50))+ends[random.IntN(len(ends))]), 0o644)
		case 4:
			err = os.Remove(path)
		case 5:
			err = os.Chtimes(path, time.Now(), time.Now())
		case 6:
			if info, lerr := os.Lstat(path); lerr == nil && info.Mode().IsRegular() {
				err = os.Chmod(path, 0o755)
			}
		case 7:
			_ = os.Remove(path)
			err = os.Symlink("../"+filepath.Base(name()), path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func TestLookAtManyFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	const many = 10_000
	for d := range 100 {
		dir := filepath.Join(a.path, fmt.Sprintf("many/%d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range many / 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if look := a.look(); len(look.Dirty) != many {
		t.Errorf("%d files", len(look.Dirty))
	}
}

func TestLFS(t *testing.T) {
	bin := t.TempDir()
	// Not git-lfs, but a filter of the same form: it reverses pointers.
	script := "#!/bin/sh\ncase \"$1\" in clean) sed s/content/pointer/;; smudge) sed s/pointer/content/;; *) exit 1;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "git-lfs"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	repo := newRepo(t)
	write(t, repo, ".gitattributes", "*.big filter=lfs diff=lfs merge=lfs -text\n")
	write(t, repo, "x.big", "pointer 1\n")
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "lfs")

	plain := newLabFor(t, repo).add("brave-otter")
	if len(plain.added.Warnings) != 1 || !strings.Contains(plain.added.Warnings[0], "git lfs install") {
		t.Errorf("warnings without git-lfs: %q", plain.added.Warnings)
	}

	git(t, repo, "config", "filter.lfs.clean", "touch /tmp/never; git-lfs clean -- %f")
	path := os.Getenv("PATH")
	t.Setenv("PATH", onlyGit(t))
	_, err := begin(t, repo)
	wantCode(t, err, cw.CodeFailed)
	if !strings.Contains(err.Error(), "x.big") || !strings.Contains(err.Error(), "the program git-lfs") {
		t.Errorf("with git-lfs set up and not on PATH: %v", err)
	}

	t.Setenv("PATH", bin+":"+path)
	git(t, repo, "config", "remote.origin.url", "https://user:secret@example.com/app.git")
	l := newLabFor(t, repo)
	l.ensure()
	config := read(t, filepath.Join(l.mirror(), "config"))
	for _, want := range []string{"clean = \"git-lfs clean -- %f\"", "url = \"https://example.com/app.git/info/lfs\"", "storage = \"" + filepath.Join(l.p.GitDir, "lfs") + "\""} {
		if !strings.Contains(config, want) {
			t.Errorf("no %s in\n%s", want, config)
		}
	}
	if strings.Contains(config, "secret") || strings.Contains(config, "never") {
		t.Errorf("too much in\n%s", config)
	}
}

// onlyGit returns a folder with git, and nothing else.
func onlyGit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, err := exec.LookPath("git")
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "git"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDiff(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a := l.add("brave-otter")
	first := a.commit("x.txt", "1\n")
	second := a.commit("README.md", "bye\n")
	write(t, a.path, "src/a.txt", "ONE\n")
	write(t, a.path, "untracked", "u\n")
	d, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Commits) != 2 || d.Commits[0].ID != second || d.Commits[1].ID != first ||
		d.Commits[0].Subject != "change README.md" || d.Commits[0].Author != "Ada <ada@example.com>" || time.Since(d.Commits[0].At) > time.Hour {
		t.Errorf("commits %+v", d.Commits)
	}
	if !strings.Contains(d.Patch, "+bye") || !strings.Contains(d.Patch, "-hello") || !strings.Contains(d.Patch, "b/x.txt") || strings.Contains(d.Patch, "ONE") {
		t.Errorf("patch\n%s", d.Patch)
	}
	if !strings.Contains(d.WorkPatch, "+ONE") || strings.Contains(d.WorkPatch, "bye") {
		t.Errorf("work patch\n%s", d.WorkPatch)
	}
	if !slices.Equal(d.Uncommitted, []string{"src/a.txt", "untracked"}) || d.Stat != (cw.Stat{Files: 2, Additions: 2, Deletions: 1}) ||
		d.Branch != "agent/brave-otter" || d.BaseCommit != a.req.Base.Commit || d.HeadCommit != second || d.Project != "app" {
		t.Errorf("%+v", d)
	}
	short, err := l.m.Diff(ctx(t), a.lookRequest(), "", cw.DiffRequest{Stat: true})
	if err != nil || short.Patch != "" || short.WorkPatch != "" || len(short.Commits) != 2 || short.Stat != d.Stat {
		t.Errorf("%+v, %v", short, err)
	}
	// The patch applies.
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "/", "clone", "-q", l.repo, clone)
	if err := os.WriteFile(clone+".patch", []byte(d.Patch), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "apply", "--index", clone+".patch")
	if got := git(t, clone, "write-tree"); got != git(t, a.path, "rev-parse", "HEAD^{tree}") {
		t.Errorf("applied: tree %s", got)
	}
}
