package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/draw"
)

// TestMend damages the mirror in every way and expects worktree, files and
// handed-over commits to come back.
func TestMend(t *testing.T) {
	t.Parallel()
	all := func(l *lab, names ...string) {
		for _, name := range names {
			_ = os.RemoveAll(filepath.Join(l.home, "repos", name))
		}
	}
	damages := map[string]func(l *lab){
		"nothing":       func(*lab) {},
		"deleted":       func(l *lab) { all(l, "app-abcd.git") },
		"all deleted":   func(l *lab) { all(l, "") },
		"guard deleted": func(l *lab) { all(l, "app-abcd.git.guard") },
		"objects":       func(l *lab) { all(l, "app-abcd.git/objects") },
		"no objects in it": func(l *lab) {
			all(l, "app-abcd.git/objects")
			_ = os.MkdirAll(filepath.Join(l.mirror(), "objects/pack"), 0o755)
		},
		"objects are a file": func(l *lab) { all(l, "app-abcd.git/objects"); write(l.t, l.mirror(), "objects", "x") },
		"refs":               func(l *lab) { all(l, "app-abcd.git/refs") },
		"refs are a link":    func(l *lab) { all(l, "app-abcd.git/refs"); _ = os.Symlink("/tmp", filepath.Join(l.mirror(), "refs")) },
		"packed-refs":        func(l *lab) { _ = os.Mkdir(filepath.Join(l.mirror(), "packed-refs"), 0o755) },
		"HEAD":               func(l *lab) { all(l, "app-abcd.git/HEAD") },
		"worktrees":          func(l *lab) { all(l, "app-abcd.git/worktrees") },
		"only the branch":    func(l *lab) { all(l, "app-abcd.git/refs/heads") },
		"junk in references": func(l *lab) { spoilRefs(l, func(string) string { return "junk\n" }) },
		"references are cut": func(l *lab) { spoilRefs(l, func(id string) string { return id[:12] }) },
		"empty references":   func(l *lab) { spoilRefs(l, func(string) string { return "" }) },
		"junk in HEAD":       func(l *lab) { spoilAdmin(l, "HEAD", "junk\n") },
		"an empty HEAD":      func(l *lab) { spoilAdmin(l, "HEAD", "") },
		"junk in the index":  func(l *lab) { spoilAdmin(l, "index", strings.Repeat("junk", 100)) },
		"a cut index":        func(l *lab) { spoilAdmin(l, "index", "DI") },
	}
	for name, damage := range damages {
		for _, place := range draw.Third([]string{fromPresent, fromTrash, fromBranch}) {
			t.Run(name+" "+place, func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				git(t, l.repo, "gc", "-q")
				a := l.add("brave-otter")
				tip := a.commit("done.txt", "done\n")
				a.handOver()
				req := a.ensureRequest()
				switch place {
				case fromTrash, fromPresent:
					write(t, a.path, "new.txt", "x")
					if place == fromTrash {
						req.Trash = a.toTrash()
					}
				case fromBranch:
					if removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest()); !removed {
						t.Fatal(why, err)
					}
				}
				damage(l)
				out, err := l.m.Ensure(ctx(t), req)
				if err != nil {
					t.Fatal(err)
				}
				if out.From != place {
					t.Errorf("from %s: %q", out.From, out.Warnings)
				}
				if place != fromBranch && read(t, filepath.Join(a.path, "new.txt")) != "x" {
					t.Error("new.txt is lost")
				}
				if got := git(t, a.path, "rev-parse", "HEAD"); got != tip {
					t.Errorf("HEAD is %s, want %s", got, tip)
				}
				if got := strings.TrimSpace(git(t, a.path, "status", "--porcelain")); got != "" && got != "?? new.txt" {
					t.Errorf("status %q", got)
				}
				if look := a.look(); look.Head != tip || len(look.Notes) > 0 {
					t.Errorf("%+v", look)
				}
				a.commit("later.txt", "x\n")
				a.handOver()
				l.add("calm-fox").commit("x.txt", "x\n")
				git(t, l.mirror(), "fsck", "--no-dangling")
			})
		}
	}
}

// spoilAdmin writes something else into what git knows of the worktrees that it
// has.
func spoilAdmin(l *lab, name, text string) {
	files, _ := filepath.Glob(filepath.Join(l.mirror(), "worktrees", "*", name))
	for _, f := range files {
		write(l.t, filepath.Dir(f), name, text)
	}
}

// spoilRefs changes what stands in every loose reference of the mirror.
func spoilRefs(l *lab, with func(id string) string) {
	l.t.Helper()
	spoilt := 0
	err := filepath.WalkDir(filepath.Join(l.mirror(), "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		spoilt++
		return os.WriteFile(path, []byte(with(read(l.t, path))), 0o600)
	})
	if err != nil || spoilt == 0 {
		l.t.Fatal("no reference was spoilt", err)
	}
}

// TestBranchFromReflog: a commit that was never handed over outlives its
// reference.
func TestBranchFromReflog(t *testing.T) {
	t.Parallel()
	damages := map[string]func(a *agent){
		"spoilt":  func(a *agent) { spoilRefs(a.lab, func(string) string { return "" }) },
		"deleted": func(a *agent) { _ = os.RemoveAll(filepath.Join(a.mirror(), "refs/heads/agent")) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			a.commit("early.txt", "x\n")
			a.handOver()
			tip := a.commit("late.txt", "x\n")
			damage(a)
			if _, err := a.m.Ensure(ctx(t), a.ensureRequest()); err != nil {
				t.Fatal(err)
			}
			if look := a.look(); look.Tip != tip || look.Work() {
				t.Errorf("the branch is at %s, not at %s; dirty: %q", look.Tip, tip, look.Dirty)
			}
		})
	}
}

// TestWorktreeWithoutGitFile: an agent that deleted the link to its repository
// gets it back, and can commit.
func TestWorktreeWithoutGitFile(t *testing.T) {
	t.Parallel()
	a := newLab(t).add("brave-otter")
	tip := a.commit("done.txt", "done\n")
	if err := os.Remove(filepath.Join(a.path, ".git")); err != nil {
		t.Fatal(err)
	}
	out, err := a.m.Ensure(ctx(t), a.ensureRequest())
	if err != nil || out.From != fromPresent || len(out.Warnings) != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	if got := git(t, a.path, "rev-parse", "HEAD"); got != tip {
		t.Errorf("HEAD is %s, want %s", got, tip)
	}
	a.commit("later.txt", "x\n")
}

// TestWorktreeTakenAway: a worktree that somebody deleted is made again, and
// that what was not committed is gone is said. One that cw removed was clean.
func TestWorktreeTakenAway(t *testing.T) {
	t.Parallel()
	for name, byCW := range map[string]bool{"by somebody": false, "by cw": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			a.commit("done.txt", "done\n")
			if byCW {
				if removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest()); !removed {
					t.Fatal(why, err)
				}
			} else if err := os.RemoveAll(a.path); err != nil {
				t.Fatal(err)
			}
			out, err := a.m.Ensure(ctx(t), a.ensureRequest())
			if err != nil || out.From != fromBranch || (len(out.Warnings) > 0) == byCW {
				t.Errorf("%+v %v", out, err)
			}
		})
	}
}

// TestEnsureMirrorMends spawns after damage.
func TestEnsureMirrorMends(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"objects", "refs"} {
		l := newLab(t)
		l.ensure()
		_ = os.RemoveAll(filepath.Join(l.mirror(), name))
		note, err := l.m.EnsureMirror(ctx(t), l.p)
		if err != nil || !strings.Contains(note, "mended") {
			t.Errorf("%s: %q %v", name, note, err)
		}
		l.addRequest(l.request("brave-otter")).commit("x.txt", "x\n")
	}
}

// TestSyncMendsReferences: references that nobody can read keep neither work from
// its snapshot nor new agents from starting, and a living agent's branch is where
// it was.
func TestSyncMendsReferences(t *testing.T) {
	t.Parallel()
	a := newLab(t).add("brave-otter")
	tip := a.commit("done.txt", "done\n")
	spoilRefs(a.lab, func(id string) string { return id[:12] })
	if snap, err := a.m.TakeSnapshot(ctx(t), a.lookRequest(), "spoilt"); err != nil || !snap.Whole {
		t.Errorf("snapshot: %+v %v", snap, err)
	}
	git(t, a.repo, "branch", "new-one")
	a.lab.add("calm-fox").commit("x.txt", "x\n")
	if got := git(t, a.path, "rev-parse", "HEAD"); got != tip {
		t.Errorf("HEAD is %s, want %s", got, tip)
	}
}

// TestLostCommit: a commit that was never handed over is gone with the mirror,
// and that is said by its name.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	tests := map[string]func(a *agent){
		"objects":           func(a *agent) { _ = os.RemoveAll(filepath.Join(a.mirror(), "objects")) },
		"one object":        func(a *agent) { loseHead(a) },
		"removed and reset": func(a *agent) { handOverAndLose(a) },
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			tip := a.commit("done.txt", "done\n")
			damage(a)
			_, err := a.m.Ensure(ctx(t), a.ensureRequest())
			wantCode(t, err, cw.CodeFailed)
			if err == nil || !strings.Contains(err.Error(), tip) {
				t.Errorf("%v does not name %s", err, tip)
			}
			if read(t, filepath.Join(a.path, "done.txt")) != "done\n" {
				t.Error("the files are gone")
			}
		})
	}
}

func loseHead(a *agent) {
	id := git(a.t, a.path, "rev-parse", "HEAD")
	_ = os.Remove(filepath.Join(a.mirror(), "objects", id[:2], id[2:]))
}

// handOverAndLose: it was handed over, and then both the mirror and the branch
// in the user's repository were deleted.
func handOverAndLose(a *agent) {
	a.handOver()
	_ = os.RemoveAll(a.mirror())
	git(a.t, a.repo, "branch", "-D", "agent/brave-otter")
	git(a.t, a.repo, "reflog", "expire", "--expire=now", "--all")
	git(a.t, a.repo, "gc", "-q", "--prune=now")
}
