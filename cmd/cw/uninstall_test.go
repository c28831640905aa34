package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestSoleWork(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		tree cw.AgentWorktree
		want []string
	}{
		{"nothing", cw.AgentWorktree{State: cw.WorktreePresent}, nil},
		{"handed over", cw.AgentWorktree{State: cw.WorktreeRemoved, Commits: 2, HandedOver: "refs/heads/agent/a"}, nil},
		{"not committed", cw.AgentWorktree{State: cw.WorktreePresent, Dirty: 1, Commits: 1, HandedOver: "refs/heads/agent/a"}, []string{"1 file not committed"}},
		{"files that went with it", cw.AgentWorktree{State: cw.WorktreeRemoved, Dirty: 1}, nil},
		{"not handed over", cw.AgentWorktree{State: cw.WorktreePresent, Commits: 2}, []string{"2 commits that your repository does not have"}},
		{"of a remote", cw.AgentWorktree{State: cw.WorktreePresent, Commits: 1, HandedOver: "refs/heads/agent/a", FetchFrom: "/x"}, []string{"1 commit in cw's clone, unless you pushed"}},
		{"in the trash", cw.AgentWorktree{State: cw.WorktreeTrashed, Trash: "/t", KeepRef: "refs/cw/keep"}, []string{"a removed worktree that can be restored"}},
		{"a snapshot", cw.AgentWorktree{State: cw.WorktreeRemoved, KeepRef: "refs/cw/keep"}, []string{"a removed worktree that can be restored"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, w := range soleWorkOf(seen{AgentView: cw.AgentView{Projects: []cw.AgentWorktree{tc.tree}}}) {
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
	if !ok {
		return diff, cw.Errorf(cw.CodeFailed, "git cannot read it")
	}
	return diff, nil
}

// TestLookAt: files and commits that a person added to a worktree after the last run
// count as work, whatever the stored counts say.
func TestLookAt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{".cw/output/notes.md", "a.txt", "deep/b.txt"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700), os.WriteFile(filepath.Join(folder, name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	tree := func(project string) cw.AgentWorktree {
		return cw.AgentWorktree{ProjectID: cw.ProjectID(project), Project: project, State: cw.WorktreePresent, HeadCommit: "head", Commits: 1, HandedOver: "refs/heads/agent/a"}
	}
	was := tree("removed")
	was.State = cw.WorktreeRemoved
	svc := diffs{of: map[string]cw.Diff{
		"same":      {HeadCommit: "head", Commits: []cw.Commit{{}}},
		"edited":    {HeadCommit: "head", Uncommitted: []string{"x", "y"}},
		"committed": {HeadCommit: "later", Commits: []cw.Commit{{}, {}}},
	}}
	for _, tc := range []struct {
		name string
		view cw.AgentView
		want []string
	}{
		{"nothing", cw.AgentView{Projects: []cw.AgentWorktree{tree("same"), was}}, nil},
		{"edited", cw.AgentView{Projects: []cw.AgentWorktree{tree("edited")}}, []string{"2 files not committed"}},
		{"committed", cw.AgentView{Projects: []cw.AgentWorktree{tree("committed")}}, []string{"2 commits that your repository does not have"}},
		{"not readable", cw.AgentView{Projects: []cw.AgentWorktree{tree("odd")}}, []string{"a worktree that cannot be read; for the reason: cw agent diff "}},
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
