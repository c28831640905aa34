package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/service"
)

func TestSoleWork(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		tree cw.AgentWorktree
		here []string
		want []string
	}{
		{"nothing", cw.AgentWorktree{State: cw.WorktreePresent}, nil, nil},
		{"handed over", cw.AgentWorktree{State: cw.WorktreeRemoved, Commits: 2, HandedOver: "refs/heads/agent/a"}, nil, nil},
		{"files and commits", cw.AgentWorktree{State: cw.WorktreePresent}, []string{"a file", "a commit"}, []string{"a file", "a commit"}},
		{"of a remote", cw.AgentWorktree{State: cw.WorktreePresent, Commits: 1, HandedOver: "refs/heads/agent/a", FetchFrom: "/x"}, nil, []string{"1 commit in cw's clone, unless you pushed"}},
		{"in the trash", cw.AgentWorktree{State: cw.WorktreeTrashed, Trash: "/t", KeepRef: "refs/cw/keep"}, nil, []string{"a removed worktree that can be restored"}},
		{"a snapshot", cw.AgentWorktree{State: cw.WorktreeRemoved, KeepRef: "refs/cw/keep"}, nil, []string{"a removed worktree that can be restored"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			view := seen{AgentView: cw.AgentView{Projects: []cw.AgentWorktree{tc.tree}}, OnlyHere: map[cw.ProjectID][]string{"": tc.here}}
			for _, w := range soleWorkOf(view) {
				got = append(got, w.What)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// diffs answers for the worktrees of an agent, by project.
type diffs struct {
	cw.AgentService
	of map[string]cw.Diff
}

func (d diffs) Diff(_ context.Context, _ string, req cw.DiffRequest) (cw.Diff, error) {
	diff, ok := d.of[req.Project]
	if !ok || !req.OnlyHere {
		return diff, cw.Errorf(cw.CodeFailed, "git cannot read it")
	}
	return diff, nil
}

// TestLookAt: every worktree and copy is looked at, also one that was cleaned up: what is
// stored dates from the end of the last run.
func TestLookAt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{".cw/output/notes.md", "a.txt", "deep/b.txt"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700), os.WriteFile(filepath.Join(folder, name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	tree := func(project string, state cw.WorktreeState) cw.AgentWorktree {
		return cw.AgentWorktree{ProjectID: cw.ProjectID(project), Project: project, State: state, HeadCommit: "head", Commits: 1, HandedOver: "refs/heads/agent/a"}
	}
	restorable := tree("odd", cw.WorktreeTrashed)
	restorable.KeepRef = "refs/cw/keep/a"
	svc := diffs{of: map[string]cw.Diff{"same": {}, "edited": {OnlyHere: []string{"1 stash"}}}}
	const unreadable = "a worktree or commits that cannot be read; for the reason: cw agent diff "
	for _, tc := range []struct {
		name string
		view cw.AgentView
		want []string
	}{
		{"nothing", cw.AgentView{Projects: []cw.AgentWorktree{tree("same", cw.WorktreePresent), tree("odd", cw.WorktreePlanned)}}, nil},
		{"present", cw.AgentView{Projects: []cw.AgentWorktree{tree("edited", cw.WorktreePresent)}}, []string{"1 stash"}},
		{"cleaned up", cw.AgentView{Projects: []cw.AgentWorktree{tree("edited", cw.WorktreeRemoved)}}, []string{"1 stash"}},
		{"not readable", cw.AgentView{Projects: []cw.AgentWorktree{tree("odd", cw.WorktreePresent)}}, []string{unreadable}},
		{"not readable, cleaned up", cw.AgentView{Projects: []cw.AgentWorktree{tree("odd", cw.WorktreeRemoved)}}, []string{unreadable}},
		{"can be restored", cw.AgentView{Projects: []cw.AgentWorktree{restorable}}, []string{"a removed worktree that can be restored"}},
		{"no project", cw.AgentView{Agent: cw.Agent{AgentCwd: folder}}, []string{"2 files in the folder of an agent without a project"}},
		{"no project and no folder", cw.AgentView{Agent: cw.Agent{AgentCwd: filepath.Join(folder, "gone")}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, w := range soleWorkOf(lookAt(t.Context(), svc, tc.view)) {
				got = append(got, w.What)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// makeFiles makes files with their folders.
func makeFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIsRemovable: a folder is removed only where a daemon of cw's worked, and never one
// that the user's own home is in.
func TestIsRemovable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	user := filepath.Join(dir, "ada")
	makeFiles(t, dir, "ada/cw.db", "ada/.cw/cw.db", "tools/bin/mine", "tools/repos/shop/README", "locked/run/daemon.lock", "notes/readme.txt", "half/uninstalling")
	if err := os.Symlink(user, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for home, want := range map[string]bool{
		"ada": false, "link": false, ".": false, "tools": false, "ada/.cw": true, "locked": true, "half": true, "notes": true, "absent": true,
	} {
		err := isRemovable(cw.Home(filepath.Join(dir, home)), user)
		if (err == nil) != want || err != nil && cw.ErrorCode(err) != cw.CodeRefused {
			t.Errorf("%s: %v, want it removable: %v", home, err, want)
		}
	}
	if isRemovable("/", user) == nil {
		t.Error("the root of the file system would be removed")
	}
}

// TestRemoveHome: what is cw's goes, also through a link to the home; other files, and
// what links in it lead to, stay. While it is removed no daemon can start.
func TestRemoveHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeFiles(t, dir, "real/cw.db", "real/run/socket", "real/.cw-worktrees/agent/a/x", "big/shop.git/HEAD", "mine/cw.db", "mine/notes.txt", "busy/cw.db", "busy/run/daemon.lock")
	for link, to := range map[string]string{"home": "real", "real/repos": "big"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := proc.Lock(filepath.Join(dir, "busy/run/daemon.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := removeHome(cw.Home(filepath.Join(dir, "busy"))); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("a home with a daemon: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"home", "mine"} {
		if err := removeHome(cw.Home(filepath.Join(dir, home))); err != nil {
			t.Fatal(err)
		}
	}
	var left []string
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(dir, path); relErr == nil && err == nil {
			left = append(left, rel)
		}
		return nil
	})
	if want := []string{".", "big", "big/shop.git", "big/shop.git/HEAD", "busy", "busy/cw.db", "busy/run", "busy/run/daemon.lock", "mine", "mine/notes.txt"}; !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// TestUnknownWork: a home that lost its database is not empty.
func TestUnknownWork(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	makeFiles(t, string(home), "run/daemon.lock", ".cw-worktrees/agent/calm-fox/x", "trash/x", "bin/b1/cw")
	a := &app{env: environ{"HOME": filepath.Join(t.TempDir(), "ada")}}
	a.service = func(cw.Home) (service.Options, error) { return service.Options{}, errors.New("no services here") }
	a.home = func() (cw.Home, error) { return home, nil }
	a.inside = func(cw.Home) bool { return false }
	left, _, err := a.observeLeftovers(t.Context(), home, false)
	if err != nil || len(left.Work) != 2 || len(left.Entries) != 4 {
		t.Errorf("%+v, %v", left, err)
	}
	if err := mayRemove(left, false); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("removed without a word: %v", err)
	}
	// Once its removal began, what is left of it is no work any more.
	makeFiles(t, string(home), "uninstalling", "cw.db")
	if left, _, err = a.observeLeftovers(t.Context(), home, false); err != nil || len(left.Work) > 0 || len(left.Entries) != 6 {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestMayRemove(t *testing.T) {
	t.Parallel()
	running, work := []string{"busy-otter"}, []soleWork{{Agent: "calm-fox", What: "1 file not committed"}}
	for _, tc := range []struct {
		name    string
		left    leftovers
		discard bool
		says    string
	}{
		{"nothing", leftovers{}, false, ""},
		{"running", leftovers{Running: running}, true, "1 agent runs"},
		{"work", leftovers{Work: work}, false, "of calm-fox: 1 file not committed"},
		{"work given up", leftovers{Work: work}, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := mayRemove(tc.left, tc.discard)
			if (err == nil) != (tc.says == "") || err != nil && (!strings.Contains(err.Error(), tc.says) || cw.ErrorCode(err) != cw.CodeRefused) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}

// TestUninstall is the whole program: work is not removed unasked, what is cw's goes,
// and what is not stays.
func TestUninstall(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	does := func(code int, says string, args ...string) string {
		t.Helper()
		out, stderr, got := cli(t, env, args...)
		if got != code || !strings.Contains(out+stderr, says) {
			t.Fatalf("cw %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, says, out, stderr)
		}
		return out
	}
	does(0, "cw keeps nothing", "uninstall")
	if _, err := os.Lstat(string(home)); err == nil {
		t.Fatal("looking has made a home")
	}
	does(2, "only for --yes", "uninstall", "--discard-work")

	repo, script := filepath.Join(temp, "shop"), filepath.Join(temp, "work.sh")
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "--allow-empty", "-m", "start"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Env = env
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho work > work.txt\nmkdir closed\ntouch closed/x\nchmod 500 closed\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	does(0, "", "agent", "spawn", "--provider", "script", "--script", script, "--name", "busy-otter", "--project", repo, "work")
	_, _, _ = cli(t, env, "agent", "attach", "busy-otter") // what becomes of it does not matter
	mine := filepath.Join(string(home), "notes.txt")
	if err := os.WriteFile(mine, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	var left leftovers
	if err := json.Unmarshal([]byte(does(0, "", "uninstall", "--json")), &left); err != nil {
		t.Fatal(err)
	}
	if left.Removed || len(left.Work) != 1 || left.Work[0].Agent != "busy-otter" || !slices.Equal(left.Others, []string{mine}) || len(left.Entries) < 5 {
		t.Errorf("%+v", left)
	}
	does(4, "work is nowhere but in cw's home", "uninstall", "--yes")
	if _, err := os.Stat(filepath.Join(home.Worktree("busy-otter"), "work.txt")); err != nil {
		t.Fatalf("the work is gone: %v", err)
	}
	sleeper := filepath.Join(temp, "sleep.sh")
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	does(0, "", "agent", "spawn", "--provider", "script", "--script", sleeper, "--name", "calm-fox", "sleep")
	does(4, "1 agent runs", "uninstall", "--yes", "--discard-work")
	if got := livingRuns(home); !slices.Equal(got, []string{"calm-fox"}) {
		t.Errorf("runs that live: %q", got)
	}
	// Its daemon is gone and its databases are damaged: it is seen all the same.
	does(0, "stopped", "stop")
	whole := home + "-whole"
	for _, name := range []string{"cw.db", "cw.db-wal"} {
		if err := os.Rename(filepath.Join(string(home), name), string(whole)+name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(string(home), "cw.db"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	does(1, "damaged", "uninstall", "--yes")
	does(4, "1 agent runs", "uninstall", "--yes", "--discard-work")
	for _, name := range []string{"cw.db", "cw.db-wal"} {
		if err := os.Rename(string(whole)+name, filepath.Join(string(home), name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	does(0, "calm-fox", "agent", "stop", "calm-fox")
	// A removal that was interrupted is not taken for a home, and goes on.
	does(0, "stopped", "stop")
	if err := os.WriteFile(home.Removal(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	does(4, "is being removed", "agent", "list")
	if err := os.Remove(home.Removal()); err != nil {
		t.Fatal(err)
	}
	does(0, "cw is removed", "uninstall", "--yes", "--discard-work")
	entries, err := os.ReadDir(string(home))
	if err != nil || len(entries) != 1 || entries[0].Name() != "notes.txt" {
		t.Errorf("left in the home folder: %v, %v", entries, err)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	does(0, "cw is removed", "uninstall", "--yes")
}
