package worktree

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cw"
)

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		clean bool
		why   string // of RemoveClean
		do    func(a *agent)
	}{
		{"untouched", true, "", func(*agent) {}},
		{"committed", true, "", func(a *agent) { a.commit("x.txt", "x\n") }},
		{"detached and committed", true, "", func(a *agent) { git(a.t, a.path, "checkout", "-q", "--detach"); a.commit("x.txt", "x\n") }},
		{"other branch", true, "", func(a *agent) { git(a.t, a.path, "checkout", "-qb", "mine"); a.commit("x.txt", "x\n") }},
		{"caches", true, "", func(a *agent) {
			write(a.t, a.path, "node_modules/x/y.js", "x")
			write(a.t, a.path, "src/__pycache__/a.pyc", "x")
		}},
		{"cw's own folders", true, "", func(a *agent) { write(a.t, a.path, ".cw/output/signal.json", "{}") }},
		{"empty ignored folder", true, "", func(a *agent) { _ = os.MkdirAll(filepath.Join(a.path, "build/x"), 0o755) }},
		{"changed", false, `"README.md" is not committed`, func(a *agent) { write(a.t, a.path, "README.md", "x") }},
		{"untracked", false, `"new.txt" is not committed`, func(a *agent) { write(a.t, a.path, "new.txt", "x") }},
		{"ignored file", false, `"a.log" is made and ignored by git`, func(a *agent) { write(a.t, a.path, "a.log", "x") }},
		{"ignored folder", false, `"build/" is made and ignored by git`, func(a *agent) { write(a.t, a.path, "build/out.bin", "x") }},
		{"changed include", false, `".env" is not committed`, func(a *agent) { write(a.t, a.path, ".env", "A=2\n") }},
		{"parted", false, "HEAD has commits", func(a *agent) {
			base := git(a.t, a.path, "rev-parse", "HEAD")
			a.commit("x.txt", "x\n")
			git(a.t, a.path, "checkout", "-q", "--detach", base)
			a.commit("y.txt", "y\n")
		}},
		{"bisecting", true, "a bisect is under way", func(a *agent) { git(a.t, a.path, "bisect", "start") }},
		{"repository in a tracked folder", true, `"src/.git/" is a repository of its own`, func(a *agent) {
			git(a.t, "/", "init", "-q", filepath.Join(a.path, "src"))
		}},
		{"replaced .git", true, "", func(a *agent) {
			_ = os.Remove(filepath.Join(a.path, ".git"))
			git(a.t, "/", "init", "-q", a.path)
		}},
		{"submodule changed", true, `submodule "lib" holds work`, func(a *agent) { write(a.t, a.path, "lib/README.md", "x") }},
		{"submodule with a new file", true, `submodule "lib" holds work`, func(a *agent) { write(a.t, a.path, "lib/new", "x") }},
		{"submodule committed", false, `"lib" is not committed`, func(a *agent) {
			git(a.t, filepath.Join(a.path, "lib"), "commit", "-q", "--allow-empty", "-m", "x")
		}},
		{"submodule committed twice", true, `submodule "lib" has commits of its own`, func(a *agent) {
			git(a.t, filepath.Join(a.path, "lib"), "commit", "-q", "--allow-empty", "-m", "x")
			git(a.t, a.path, "commit", "-qam", "lib")
		}},
		{"submodule with a branch", true, `submodule "lib" has commits of its own`, func(a *agent) {
			lib := filepath.Join(a.path, "lib")
			at := git(a.t, lib, "rev-parse", "HEAD")
			git(a.t, lib, "checkout", "-qb", "mine")
			git(a.t, lib, "commit", "-q", "--allow-empty", "-m", "x")
			git(a.t, lib, "checkout", "-q", "--detach", at)
		}},
		{"submodule with its own git", true, `"lib" is a repository of its own`, func(a *agent) {
			_ = os.Remove(filepath.Join(a.path, "lib/.git"))
			git(a.t, "/", "init", "-q", filepath.Join(a.path, "lib"))
		}},
	}
	repo := rich(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newLabFor(t, repo).add("brave-otter")
			test.do(a)
			stood := standing(t, a)
			look := a.look()
			if test.name == "replaced .git" {
				test.why = "its .git was replaced"
			}
			if look.Clean() != test.clean {
				t.Errorf("clean %v: %+v", look.Clean(), look)
			}
			before := everything(t, a.path)
			removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest())
			if err != nil {
				t.Fatal(err)
			}
			if removed != (test.why == "") || !strings.Contains(why, test.why) {
				t.Errorf("removed %v because %q, want %q", removed, why, test.why)
			}
			if !removed {
				if d := changes(before, everything(t, a.path)); d != nil || exists(asidePath(a.path)) {
					t.Errorf("it is not as it was: %q", d)
				}
				return
			}
			if exists(a.path) || exists(asidePath(a.path)) || exists(filepath.Join(a.mirror(), "worktrees", "brave-otter")) {
				t.Error("something is left")
			}
			if again, why, err := a.m.RemoveClean(ctx(t), a.lookRequest()); !again || err != nil {
				t.Errorf("again: %v %q %v", again, why, err)
			}
			if gone := a.look(); !gone.Missing || gone.Tip != look.Tip || gone.Head != look.Head || gone.Branch != look.Branch {
				t.Errorf("afterwards %+v, was %+v", gone, look)
			}
			a.ensureFrom("", "", fromBranch)
			if now := a.look(); now.Work() || standing(t, a) != stood {
				t.Errorf("made again: %+v, HEAD %s, was %s", now, standing(t, a), stood)
			}
			if read(t, filepath.Join(a.path, ".env")) != "A=1\n" || !exists(filepath.Join(a.path, "lib/README.md")) {
				t.Error("included files or submodules are not back")
			}
			a.commit("later.txt", "x\n")
		})
	}
}

// TestRemoveCleanRace writes into the worktree between the two looks.
func TestRemoveCleanRace(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"late.txt", "late.log"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			shell, err := os.Open(a.path) // somebody's working directory
			if err != nil {
				t.Fatal(err)
			}
			defer shell.Close()
			a.m.fail = func(step string) {
				if step == "worktree/aside" {
					write(t, fmt.Sprintf("/proc/self/fd/%d", shell.Fd()), name, "late")
				}
			}
			removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest())
			if err != nil || removed || !strings.Contains(why, name) {
				t.Errorf("removed %v %q %v", removed, why, err)
			}
			if read(t, filepath.Join(a.path, name)) != "late" {
				t.Error("it is lost")
			}
		})
	}
}

func TestTrashElsewhere(t *testing.T) {
	t.Parallel()
	other, err := os.MkdirTemp("/dev/shm", "cw-trash-*")
	if err != nil || sameDevice(other, os.TempDir()) {
		missing(t, "no second file system at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	a := newLab(t).add("brave-otter")
	write(t, a.path, "new.txt", "x")
	before := everything(t, a.path)
	path, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), filepath.Join(other, "brave-otter-1"))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(a.path), ".trash", "brave-otter-1"); path != want {
		t.Errorf("it is at %s, want %s", path, want)
	}
	if again, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), filepath.Join(other, "brave-otter-1")); err != nil || again != path {
		t.Errorf("again: %s, %v", again, err)
	}
	a.ensureFrom(path, "", fromTrash)
	if d := changes(before, everything(t, a.path)); d != nil {
		t.Errorf("%q differ", d)
	}
}

// TestRepositoryElsewhere has the user's repository on another file system than
// cw's home: nothing can be linked, all is copied.
func TestRepositoryElsewhere(t *testing.T) {
	t.Parallel()
	other, err := os.MkdirTemp("/dev/shm", "cw-repo-*")
	if err != nil || sameDevice(other, os.TempDir()) {
		missing(t, "no second file system at /dev/shm")
	}
	t.Cleanup(func() { _ = os.RemoveAll(other) })
	repo := filepath.Join(other, "app")
	if err := os.CopyFS(repo, os.DirFS(newRepo(t))); err != nil {
		t.Fatal(err)
	}
	a := newLabFor(t, repo).add("brave-otter")
	a.commit("x.txt", "x\n")
	write(t, a.path, "new.txt", "x")
	before := filesOnly(everything(t, a.path))
	snap := a.keep("one")
	a.purge(a.toTrash())
	a.ensureFrom("", snap.Ref, fromSnapshot)
	if d := changes(before, filesOnly(everything(t, a.path))); d != nil {
		t.Errorf("%q differ", d)
	}
}

func sameDevice(a, b string) bool {
	var x, y syscall.Stat_t
	return syscall.Stat(a, &x) == nil && syscall.Stat(b, &y) == nil && x.Dev == y.Dev
}

// missing skips by name what this machine cannot do; CI has to be able to.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// TestTakenAway covers worktrees that the user moved, deleted or replaced.
func TestTakenAway(t *testing.T) {
	t.Parallel()
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		a := newLab(t).add("brave-otter")
		tip := a.commit("x.txt", "x\n")
		_ = os.RemoveAll(a.path)
		if removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest()); removed || why == "" || err != nil {
			t.Errorf("removed %v %q %v", removed, why, err)
		}
		if snap := a.keep("one"); !snap.Whole {
			t.Errorf("%+v", snap)
		}
		if path, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), a.trashPath()); path != "" || err != nil {
			t.Errorf("trash %q %v", path, err)
		}
		a.ensureFrom("", "", fromBranch)
		if look := a.look(); look.Head != tip || look.Work() {
			t.Errorf("%+v", look)
		}
	})
	t.Run("moved and brought back", func(t *testing.T) {
		t.Parallel()
		a := newLab(t).add("brave-otter")
		write(t, a.path, "new.txt", "x")
		trash := a.toTrash()
		if err := os.Rename(trash, a.path); err != nil {
			t.Fatal(err)
		}
		a.ensureFrom(trash, "", fromPresent)
		if read(t, filepath.Join(a.path, "new.txt")) != "x" {
			t.Error("the work is gone")
		}
	})
	t.Run("something else in its place", func(t *testing.T) {
		t.Parallel()
		a := newLab(t).add("brave-otter")
		trash := a.toTrash()
		for _, put := range []func(){
			func() { write(t, a.path, "mine.txt", "x") },
			func() { _ = os.WriteFile(a.path, []byte("x"), 0o600) },
			func() { _ = os.Symlink("/tmp", a.path) },
		} {
			put()
			req := a.ensureRequest()
			req.Trash = trash
			_, err := a.m.Ensure(ctx(t), req)
			wantCode(t, err, cw.CodeRefused)
			if !isDir(trash) || !exists(a.path) {
				t.Error("something is gone")
			}
			_ = os.RemoveAll(a.path)
		}
		a.ensureFrom(trash, "", fromTrash)
	})
	t.Run("trash is taken", func(t *testing.T) {
		t.Parallel()
		a := newLab(t).add("brave-otter")
		write(t, a.trashPath(), "mine.txt", "x")
		_, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), a.trashPath())
		wantCode(t, err, cw.CodeRefused)
		if !exists(a.path) {
			t.Error("the worktree is gone")
		}
	})
	t.Run("purge of what was restored", func(t *testing.T) {
		t.Parallel()
		a := newLab(t).add("brave-otter")
		trash := a.toTrash()
		a.ensureFrom(trash, "", fromTrash)
		write(t, trash, "mine.txt", "x")
		err := a.m.Purge(ctx(t), PurgeRequest{Project: a.p, AgentID: a.req.AgentID, Alias: a.req.Alias, Path: a.path, Trash: trash})
		wantCode(t, err, cw.CodeRefused)
		if !exists(filepath.Join(trash, "mine.txt")) || !exists(a.path) {
			t.Error("something is gone")
		}
	})
	t.Run("snapshot is gone", func(t *testing.T) {
		t.Parallel()
		a := newLab(t).add("brave-otter")
		snap := a.keep("one")
		a.purge(a.toTrash())
		for range 2 {
			if err := a.m.DropSnapshot(ctx(t), a.p, snap.Ref); err != nil {
				t.Fatal(err)
			}
		}
		req := a.ensureRequest()
		req.KeepRef = snap.Ref
		_, err := a.m.Ensure(ctx(t), req)
		wantCode(t, err, cw.CodeFailed)
		if _, _, err = a.m.SnapshotHolds(ctx(t), a.lookRequest(), a.trashPath(), snap.Ref); cw.ErrorCode(err) != cw.CodeNotFound {
			t.Errorf("%v", err)
		}
	})
}

// TestAgainSparesOthers: a try to make a worktree again was killed, and then
// somebody put something of their own at its path.
func TestAgainSparesOthers(t *testing.T) {
	t.Parallel()
	a := newLab(t).add("brave-otter")
	snap := a.keep("one")
	a.purge(a.toTrash())
	job := goneJob{Repos: a.m.repos, Do: "ensure", At: "worktree/intent", Ensure: a.ensureRequest()}
	job.Ensure.KeepRef = snap.Ref
	if !killedAt(t, job) {
		t.Fatal("the step was never reached")
	}
	write(t, a.path, "mine.txt", "x")
	_, err := a.m.Ensure(ctx(t), job.Ensure)
	wantCode(t, err, cw.CodeRefused)
	if !exists(filepath.Join(a.path, "mine.txt")) {
		t.Fatal("somebody's file is gone")
	}
	_ = os.RemoveAll(a.path)
	a.ensureFrom("", snap.Ref, fromSnapshot)
}

// TestRemoveCleanTwice: the first was killed with files still to delete, and
// then the worktree was made again and worked in.
func TestRemoveCleanTwice(t *testing.T) {
	t.Parallel()
	a := newLab(t).add("brave-otter")
	if !killedAt(t, goneJob{Repos: a.m.repos, Do: "clean", At: "worktree/unlocked", Look: a.lookRequest()}) {
		t.Fatal("the step was never reached")
	}
	_ = os.Remove(filepath.Join(asidePath(a.path), "README.md")) // half deleted
	a.ensureFrom("", "", fromBranch)
	a.commit("later.txt", "x\n")
	removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest())
	if !removed || err != nil || exists(a.path) || exists(asidePath(a.path)) {
		t.Errorf("removed %v %q %v", removed, why, err)
	}
	a.ensureFrom("", "", fromBranch)
	if !exists(filepath.Join(a.path, "later.txt")) || a.look().Work() {
		t.Errorf("%+v", a.look())
	}
}

// TestSameNameOfFolder has two worktrees whose folders are named alike, as
// those of several agents in one project are: the second takes over the first
// one's name in the mirror, and nothing done to the first may hit it.
func TestSameNameOfFolder(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cleaned up", "purged", "admin folder deleted"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.ensure()
			first, second := l.request("keen-lynx"), l.request("calm-fox") // the later record would win
			first.Path, second.Path = filepath.Join(l.home, "one", "app"), filepath.Join(l.home, "two", "app")
			a := l.addRequest(first)
			switch how {
			case "cleaned up":
				if removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest()); !removed {
					t.Fatal(why, err)
				}
			case "purged":
				a.purge(a.toTrash())
			default:
				_ = os.RemoveAll(filepath.Join(l.mirror(), "worktrees", "app"))
			}
			b := l.addRequest(second)
			write(t, b.path, "new.txt", "x")
			a.ensureFrom("", "", map[bool]string{true: fromPresent, false: fromBranch}[how == "admin folder deleted"])
			if removed, why, err := a.m.RemoveClean(ctx(t), a.lookRequest()); !removed {
				t.Fatal(why, err)
			}
			for _, x := range []*agent{b} {
				if got := git(t, x.path, "status", "--porcelain"); got != "?? new.txt" {
					t.Errorf("status %q", got)
				}
				x.commit("x.txt", "x\n")
			}
			if got := l.takeRestored(); got != nil {
				t.Errorf("reported as tampering: %q", got)
			}
		})
	}
}

// TestSnapshotHolds changes a worktree in the trash after its snapshot.
func TestSnapshotHolds(t *testing.T) {
	t.Parallel()
	tests := map[string]func(dir string) error{
		"new.txt":      func(dir string) error { return os.WriteFile(dir+"/new.txt", []byte("y"), 0o644) },
		"README.md":    func(dir string) error { return os.Chmod(dir+"/README.md", 0o755) },
		"more.log":     func(dir string) error { return os.WriteFile(dir+"/more.log", nil, 0o644) },
		"build/out":    func(dir string) error { return os.WriteFile(dir+"/build/out", []byte("y"), 0o644) },
		"link":         func(dir string) error { return os.Symlink("x", dir+"/link") },
		"empty/":       func(dir string) error { return os.Mkdir(dir+"/empty", 0o755) },
		"src/.git/":    func(dir string) error { return os.Mkdir(dir+"/src/.git", 0o755) },
		"pipe":         func(dir string) error { return syscall.Mkfifo(dir+"/pipe", 0o644) },
		".gitignore":   func(dir string) error { return os.WriteFile(dir+"/.gitignore", []byte("*\n"), 0o644) },
		".cw/other":    func(dir string) error { return os.WriteFile(dir+"/.cw/other", []byte("y"), 0o644) },
		"":             func(dir string) error { return os.WriteFile(dir+"/.cw/output/x", []byte("y"), 0o644) },
		"node_modules": func(dir string) error { return os.WriteFile(dir+"/node_modules", []byte("y"), 0o644) },
	}
	for name, change := range tests {
		t.Run("change of "+strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			write(t, a.path, "new.txt", "x")
			write(t, a.path, "build/out", "x")
			write(t, a.path, ".cw/output/signal.json", "x")
			snap := a.keep("one")
			trash := a.toTrash()
			if err := change(trash); err != nil {
				t.Fatal(err)
			}
			whole, missing, err := a.m.SnapshotHolds(ctx(t), a.lookRequest(), trash, snap.Ref)
			if err != nil || whole != (name == "") || !whole && !slices.Equal(missing, []string{name}) {
				t.Errorf("whole %v, missing %q, %v", whole, missing, err)
			}
		})
	}
}

// TestSnapshotOfStaged keeps what lies in the index alone.
func TestSnapshotOfStaged(t *testing.T) {
	t.Parallel()
	a := newLab(t).add("brave-otter")
	write(t, a.path, "x.txt", "only staged\n")
	git(t, a.path, "add", "x.txt")
	blob := git(t, a.path, "rev-parse", ":x.txt")
	write(t, a.path, "x.txt", "later\n")
	snap := a.keep("one")
	if out := git(t, a.mirror(), "rev-list", "--objects", snap.Ref); !strings.Contains(out, blob) {
		t.Error("what was only staged is not kept")
	}
	if again := a.keep("one"); again.Commit != snap.Commit || again.Whole != snap.Whole {
		t.Errorf("again %+v, was %+v", again, snap)
	}
	a.purge(a.toTrash())
	out := a.ensureFrom("", snap.Ref, fromSnapshot)
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "staged") {
		t.Errorf("warnings %q", out.Warnings)
	}
	if got := git(t, a.path, "status", "--porcelain"); got != "?? x.txt" {
		t.Errorf("status %q", got)
	}
}

// TestManyFiles keeps and brings back 20,000 untracked files in one folder.
func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	t.Parallel()
	const n = 20_000
	a := newLab(t).add("brave-otter")
	dir := filepath.Join(a.path, "many")
	_ = os.Mkdir(dir, 0o755)
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(fmt.Sprint(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	snap := a.keep("one")
	trash := a.toTrash()
	whole, _, err := a.m.SnapshotHolds(ctx(t), a.lookRequest(), trash, snap.Ref)
	if err != nil || !whole {
		t.Fatalf("whole %v, %v", whole, err)
	}
	a.purge(trash)
	a.ensureFrom("", snap.Ref, fromSnapshot)
	entries, _ := os.ReadDir(dir)
	if len(entries) != n || read(t, filepath.Join(dir, "19999")) != "19999" {
		t.Errorf("%d files are back", len(entries))
	}
}

// TestSeveralWorktrees takes two of four away at the same time.
func TestSeveralWorktrees(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.ensure()
	var all []*agent
	for i := range 4 {
		a := l.addRequest(l.request(fmt.Sprintf("agent-%d", i)))
		write(t, a.path, "new.txt", fmt.Sprint(i))
		all = append(all, a)
	}
	done := make(chan struct{})
	for _, a := range all {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 3 {
				snap, err := a.m.TakeSnapshot(ctx(t), a.lookRequest(), "one")
				if err != nil {
					t.Error(err)
					return
				}
				path, err := a.m.MoveToTrash(ctx(t), a.lookRequest(), a.trashPath())
				if err != nil {
					t.Error(err)
					return
				}
				req := a.ensureRequest()
				req.Trash, req.KeepRef = path, snap.Ref
				if _, err := a.m.Ensure(ctx(t), req); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range all {
		<-done
	}
	for i, a := range all {
		if read(t, filepath.Join(a.path, "new.txt")) != fmt.Sprint(i) || len(a.look().Dirty) != 1 {
			t.Errorf("agent %d: %+v", i, a.look())
		}
	}
	if got := l.takeRestored(); got != nil {
		t.Errorf("reported as tampering: %q", got)
	}
}

// goneJob is what a process that is killed at a step does: see killedGone.
type goneJob struct {
	Repos  string
	Look   LookRequest
	Ensure EnsureRequest
	Do     string
	Trash  string
	At     string
}

const goneEnv = "CW_TEST_KILLED_GONE"

// killedGone is that process.
func killedGone() {
	var job goneJob
	if err := json.Unmarshal([]byte(os.Getenv(goneEnv)), &job); err != nil {
		panic(err)
	}
	m := New(Options{ReposDir: job.Repos, Fail: func(step string) {
		if step == job.At {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err := goneAct(m, job); err != nil {
		fmt.Println(err)
		os.Exit(4)
	}
	os.Exit(0)
}

func goneAct(m *Manager, job goneJob) (err error) {
	ctx := context.Background()
	switch job.Do {
	case "snapshot":
		_, err = m.TakeSnapshot(ctx, job.Look, "one")
	case "clean":
		_, _, err = m.RemoveClean(ctx, job.Look)
	case "trash":
		_, err = m.MoveToTrash(ctx, job.Look, job.Trash)
	case "ensure":
		_, err = m.Ensure(ctx, job.Ensure)
	case "purge":
		err = m.Purge(ctx, PurgeRequest{Project: job.Look.Project, AgentID: job.Look.AgentID, Alias: job.Look.Alias, Path: job.Look.Path, Trash: job.Trash})
	}
	return err
}

// TestGoneKilledAtEachStep ends the process at every failpoint of taking away
// and bringing back; the same act done again ends well, and nothing is lost.
// TestFreedKilledAtEachStep: a branch of the agent's own making is free when it is
// removed and back when it is restored, whatever is killed meanwhile.
func TestFreedKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ do, at string }{
		{"trash", "worktree/ends"}, {"trash", "worktree/detached"}, {"ensure", "worktree/branch-back"},
	} {
		t.Run(strings.ReplaceAll(test.do+" "+test.at, "/", "-"), func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			git(t, a.path, "checkout", "-qb", "feature")
			id := a.commit("done.txt", "done\n")
			job := goneJob{Repos: a.m.repos, Do: test.do, At: test.at, Look: a.lookRequest(), Ensure: a.ensureRequest(), Trash: a.trashPath()}
			if test.do == "ensure" {
				job.Ensure.Trash = a.toTrash()
			}
			if !killedAt(t, job) {
				t.Fatal("the step was never reached")
			}
			if err := goneAct(a.m, job); err != nil {
				t.Fatal(err)
			}
			if test.do == "trash" {
				if out, err := tryGit(a.mirror(), "rev-parse", "-q", "--verify", "refs/heads/feature"); err == nil {
					t.Errorf("the branch is at %s", out)
				}
				a.forgetful()
				a.holds([]string{id}, "removed")
				job.Ensure.Trash = a.trashPath()
				if _, err := a.m.Ensure(ctx(t), job.Ensure); err != nil {
					t.Fatal(err)
				}
			}
			if stands := standing(t, a); stands != "refs/heads/feature "+id {
				t.Errorf("HEAD is %s", stands)
			}
			if status := git(t, a.path, "status", "--porcelain"); status != "" {
				t.Error(status)
			}
		})
	}
}

func TestGoneKilledAtEachStep(t *testing.T) {
	t.Parallel()
	tests := []struct{ do, at, start string }{
		{"snapshot", "worktree/snapshot", "dirty"},
		{"clean", "worktree/aside", "clean"},
		{"clean", "worktree/unlocked", "clean"}, {"clean", "worktree/removed", "clean"},
		{"trash", "worktree/trashed", "dirty"},
		{"ensure", "worktree/untrashed", "trashed"},
		{"ensure", "worktree/unlocked", "deleted"},
		{"ensure", "worktree/intent", "purged"}, {"ensure", "worktree/added", "purged"}, {"ensure", "worktree/checked-out", "purged"},
		{"ensure", "worktree/seeded", "no mirror"}, {"ensure", "worktree/mirror", "no mirror"}, {"ensure", "worktree/synced", "no mirror"},
		{"ensure", "worktree/linked", "no mirror"},
		{"purge", "worktree/purging", "trashed"}, {"purge", "worktree/purged", "trashed"},
	}
	for _, test := range tests {
		t.Run(strings.ReplaceAll(test.do+" "+test.at+" "+test.start, "/", "-"), func(t *testing.T) {
			t.Parallel()
			a := newLab(t).add("brave-otter")
			a.commit("done.txt", "done\n")
			a.handOver()
			if test.start != "clean" {
				write(t, a.path, "new.txt", "x")
				write(t, a.path, "README.md", "changed\n")
			}
			want := filesOnly(everything(t, a.path))
			job := goneJob{Repos: a.m.repos, Do: test.do, At: test.at, Look: a.lookRequest(), Ensure: a.ensureRequest(), Trash: a.trashPath()}
			if test.start == "trashed" || test.start == "purged" || test.start == "deleted" {
				job.Ensure.KeepRef = a.keep("one").Ref
				if test.start == "deleted" {
					_ = os.RemoveAll(a.path)
				} else {
					job.Ensure.Trash = a.toTrash()
				}
			}
			if test.start == "purged" {
				a.purge(a.trashPath())
			}
			if test.start == "no mirror" {
				_ = os.RemoveAll(a.mirror())
			}
			if !killedAt(t, job) {
				t.Fatal("the step was never reached")
			}
			if test.do == "purge" && exists(a.trashPath()) {
				t.Error("what is being deleted can be taken for the worktree")
			}
			if err := goneAct(a.m, job); err != nil {
				t.Fatal(err)
			}
			if exists(asidePath(a.path)) || exists(a.trashPath()+".purging") {
				t.Error("something is left")
			}
			if test.do == "purge" || test.do == "clean" {
				if exists(a.path) || exists(a.trashPath()) {
					t.Error("it is still there")
				}
			}
			if _, err := a.m.Ensure(ctx(t), job.Ensure); err != nil {
				// trash says where it went, as its row would
				t.Fatal(err)
			}
			if d := changes(want, filesOnly(everything(t, a.path))); d != nil {
				t.Errorf("%q differ", d)
			}
			if _, err := tryGit(a.path, "status"); err != nil {
				t.Error(err)
			}
			a.add("calm-fox")
			if got := a.takeRestored(); got != nil {
				t.Errorf("reported as tampering: %q", got)
			}
		})
	}
}

func killedAt(t *testing.T, job goneJob) bool {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), goneEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		t.Fatalf("it was not killed: %v, %s", err, out)
	}
	return true
}
