package orchestrator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestCleanUp: the worktree goes when nothing is in it alone, and stays
// otherwise, with the reason.
func TestCleanUp(t *testing.T) {
	t.Parallel()
	const done = `{"status":"done"}`
	commit := "echo a >a && git add a && git commit -q -m 'Add a'"
	asked := &fakecli.Script{Signal: done}
	tests := []struct {
		name   string
		script fakecli.Script
		stays  bool
		says   string // in a warning; "" for no warning
	}{
		{"committed", fakecli.Script{Shell: commit, Signal: done}, false, ""},
		{"nothing was needed", fakecli.Script{Signal: `{"status":"done","noChanges":"it is right"}`}, false, ""},
		{"a cache", fakecli.Script{Shell: commit + " && mkdir node_modules && echo x >node_modules/x && echo node_modules >.gitignore && git add .gitignore && git commit -q -m Ignore", Signal: done}, false, ""},
		{"its output is copied", fakecli.Script{Shell: commit + " && echo notes >.cw/output/progress.md", Signal: done}, false, ""},
		{"an untracked file, twice", fakecli.Script{Shell: commit + " && echo b >b", Signal: done, Next: asked}, true, "1 uncommitted file"},
		{"an ignored file", fakecli.Script{Shell: "echo '*.env' >.gitignore && git add . && git commit -q -m Ignore && echo key >secrets.env", Signal: done}, true, "secrets.env"},
		{"a branch that left its base", fakecli.Script{Shell: commit + " && git checkout -q -b other HEAD~1 && echo c >c && git add c && git commit -q -m 'Add c'", Signal: done}, true, "parted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			v := e.rest(e.mustSpawn(e.request(tt.script)).Alias)
			if v.Status != cw.StatusIdle {
				t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
			}
			if there(v.AgentCwd) != tt.stays || (v.WorktreeState == cw.WorktreePresent) != tt.stays {
				t.Errorf("worktree there: %v, state %s, warnings %q", there(v.AgentCwd), v.WorktreeState, v.Warnings)
			}
			if text := strings.Join(v.Warnings, "\n"); (tt.says == "") != (text == "") || !strings.Contains(text, tt.says) {
				t.Errorf("warnings %q", v.Warnings)
			}
			if v.Commits() > 0 && lab.Git(t, e.repo, "rev-parse", v.Branch) != v.HeadCommit {
				t.Error("the branch was not handed over")
			}
		})
	}
}

// TestCleanUpAsksOnce: uncommitted work is asked for once; an agent that then
// commits is clean, and nobody is left with a warning about it.
func TestCleanUpAsksOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.request(fakecli.Script{
		Shell: "echo a >a", Signal: `{"status":"done"}`,
		Next: &fakecli.Script{Expect: []string{"- `./`"}, Shell: "git add a && git commit -q -m 'Add a'", Signal: `{"status":"done","result":"now it is"}`},
	})).Alias)
	if v.Status != cw.StatusIdle || len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunCommit || v.Commits() != 1 || len(v.Warnings) > 0 || there(v.AgentCwd) {
		t.Errorf("%s %s, runs %+v, %d commits, warnings %q, there: %v", v.Status, v.Error, v.Runs, v.Commits(), v.Warnings, there(v.AgentCwd))
	}
	if v.CommitRetries != 0 {
		t.Errorf("the counter stays at %d", v.CommitRetries)
	}
}

// TestKilledCommit: where an agent was killed in the middle of a commit, a person
// can work when its end is known, and the agent in its next run, although its
// git left its locks.
func TestKilledCommit(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.sessions(fakecli.Script{
		Shell:   `g=$(git rev-parse --git-dir) && : >"$g/index.lock" && : >"$g/HEAD.lock" && : >"$(git rev-parse --git-common-dir)/refs/heads/$(git branch --show-current).lock"`,
		Suicide: "KILL",
		Next:    &fakecli.Script{Shell: "echo a >a && git add a && git commit -q -m 'Add a'", Signal: `{"status":"done"}`},
	})).Alias)
	if v.Reason != cw.ReasonKilled {
		t.Fatalf("%s %s: %s", v.Status, v.Reason, v.Error)
	}
	if out, err := exec.Command("git", "-C", v.AgentCwd, "commit", "-q", "--allow-empty", "-m", "Mine").CombinedOutput(); err != nil {
		t.Errorf("a person cannot commit there: %v\n%s", err, out)
	}
	git, err := exec.Command("git", "-C", v.AgentCwd, "rev-parse", "--absolute-git-dir").Output()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(strings.TrimSpace(string(git)), "index.lock"), nil, 0o600))
	if _, err := e.Resume(t.Context(), v.Alias, cw.ResumeRequest{}); err != nil {
		t.Fatal(err)
	}
	if v = e.rest(v.Alias); v.Status != cw.StatusIdle || v.Commits() != 2 {
		t.Errorf("%s %s: %s, %d commits", v.Status, v.Reason, v.Error, v.Commits())
	}
}

// TestCleanUpSparesUsers: what a person writes into the worktree just before it
// goes is work, too.
func TestCleanUpSparesUsers(t *testing.T) {
	t.Parallel()
	var e *engine
	note := func() string { return filepath.Join(e.home.Worktree("brave-otter"), "note") }
	e = newEngine(t, hook("cleanup/looked", func() { must(t, os.WriteFile(note(), []byte("mine"), 0o600)) }))
	req := e.request(does())
	req.Name = "brave-otter"
	v := e.rest(e.mustSpawn(req).Alias)
	if data, err := os.ReadFile(note()); string(data) != "mine" || v.WorktreeState != cw.WorktreePresent || len(v.Warnings) == 0 {
		t.Errorf("%q, %v; state %s, warnings %q", data, err, v.WorktreeState, v.Warnings)
	}
}

// TestCleanUpIsTakenUp: a daemon that dies in a clean-up leaves it to the next.
func TestCleanUpIsTakenUp(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"finish/stored", "cleanup/looked", "cleanup/removed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			reached, die := dies(step)
			e := newEngine(t, die)
			v := e.mustSpawn(e.request(does()))
			<-reached
			if view, err := e.Agent(t.Context(), v.Alias); err != nil || view.Status != cw.StatusIdle || !view.Settling {
				t.Errorf("%s, settling %v, %v", view.Status, view.Settling, err)
			}
			e.stopRun()
			e.boot()
			if view := e.rest(v.Alias); view.WorktreeState != cw.WorktreeRemoved || there(view.AgentCwd) || len(view.Runs) != 1 {
				t.Errorf("worktree %s, %d runs, there: %v", view.WorktreeState, len(view.Runs), there(view.AgentCwd))
			}
		})
	}
}

// TestDiffWhileCleaningUp: who asks for the difference while the worktree goes
// gets it, from the worktree or from the branch.
func TestDiffWhileCleaningUp(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	name := e.mustSpawn(e.request(does())).Alias
	e.until(name, func(v cw.AgentView) bool { return !v.Status.Alive() })
	for over := false; !over; {
		v, err := e.Agent(t.Context(), name)
		must(t, err)
		over = !v.Settling && v.WorktreeState == cw.WorktreeRemoved
		d, err := e.Diff(t.Context(), name, cw.DiffRequest{})
		if err != nil || !strings.Contains(d.Patch, "+a") {
			t.Fatalf("settling %v, worktree %s: %q, %v", v.Settling, v.WorktreeState, d.Patch, err)
		}
	}
}
