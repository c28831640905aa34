package orchestrator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
)

// TestHostileEnds: whatever an agent does to the places it knows, its run ends
// in a definite state, and says what could not be had.
func TestHostileEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script fakecli.Script
		status cw.AgentStatus
		reason cw.Reason
		says   string // in a warning
	}{
		{"its worktree is a link", fakecli.Script{Shell: `d=$PWD; cd ..; mv "$d" "$d.moved"; ln -s /tmp "$d"`}, cw.StatusCrashed, cw.ReasonNoSignal, "could not be looked at"},
		{"its worktree is gone", fakecli.Script{Shell: `d=$PWD; cd ..; mv "$d" "$d.moved"`}, cw.StatusCrashed, cw.ReasonNoSignal, "is gone"},
		{"a name as long as may be", fakecli.Script{Shell: `: >.cw/output/$(printf '%255s' | tr ' ' n)`, Signal: `{"status":"done","noChanges":"looked"}`}, cw.StatusIdle, "", ""},
		{"another branch", fakecli.Script{
			Shell: `git switch -q -c mine && echo a >a && git add a && git commit -q -m "Add a"`, Signal: `{"status":"done"}`,
		}, cw.StatusIdle, "", "not on agent/"},
		{"stderr is a pipe", fakecli.Script{Shell: `f=$(ls "$CW_HOME"/runs/*/1/stderr.log); rm "$f"; mkfifo "$f"`, Signal: `{"status":"done","noChanges":"looked"}`}, cw.StatusIdle, "", ""},
		{"the signal is a pipe", fakecli.Script{Shell: `mkfifo .cw/output/signal.json`}, cw.StatusCrashed, cw.ReasonNoSignal, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			v := e.rest(e.mustSpawn(e.request(tt.script)).Alias)
			if v.Status != tt.status || v.Reason != tt.reason {
				t.Errorf("%s %s: %s", v.Status, v.Reason, v.Error)
			}
			if all := strings.Join(v.Warnings, "\n"); !strings.Contains(all, tt.says) {
				t.Errorf("warnings %q, want %q", v.Warnings, tt.says)
			}
			if left, err := e.db.UnfinishedRuns(t.Context()); err != nil || len(left) > 0 {
				t.Errorf("%d unfinished runs, %v", len(left), err)
			}
		})
	}
}

// TestFinishIsStored: a store that fails for a while is tried until it works;
// the branch is handed over and the final text stored once.
func TestFinishIsStored(t *testing.T) {
	t.Parallel()
	e := newEngine(t, spoil(&spoiltStore{finish: failing(2)}))
	v := e.rest(e.mustSpawn(e.request(does())).Alias)
	if v.Status != cw.StatusIdle || v.Commits() != 1 || v.Projects[0].HandedOver == "" {
		t.Errorf("%s %s: %s, %+v", v.Status, v.Reason, v.Error, v.Projects)
	}
	if got := lab.Git(t, e.repo, "rev-parse", v.Branch); got != v.HeadCommit {
		t.Errorf("branch at %s, head %s", got, v.HeadCommit)
	}
}

// TestQuestionsAreStored: each has an id of cw's, the agent's own key, and the
// group that it was asked in.
func TestQuestionsAreStored(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	v := e.rest(e.mustSpawn(e.request(fakecli.Script{
		Signal: `{"status":"questions","questions":["Which?",{"id":"db","question":"Where?","options":["here","there"],"multiSelect":true}]}`,
	})).Alias)
	if v.Status != cw.StatusWaitingForInput || len(v.PendingQuestions) != 2 {
		t.Fatalf("%s %s: %s, %d questions", v.Status, v.Reason, v.Error, len(v.PendingQuestions))
	}
	a, b := v.PendingQuestions[0], v.PendingQuestions[1]
	if a.Key != "q1" || b.Key != "db" || a.Text != "Which?" || len(b.Options) != 2 || !b.MultiSelect {
		t.Errorf("%+v\n%+v", a, b)
	}
	if a.ID == b.ID || !cw.IsID(string(a.ID)) || a.RequestID != b.RequestID || a.RunID != v.Runs[0].ID {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestStandalone: an agent without a project works in a folder of its own.
func TestStandalone(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	req := e.request(fakecli.Script{Shell: "pwd >.cw/output/where", Signal: `{"status":"done"}`})
	req.Projects = nil
	v := e.rest(e.mustSpawn(req).Alias)
	where, err := os.ReadFile(filepath.Join(v.Runs[0].Dir, "output", "where"))
	must(t, err)
	if got, _ := filepath.EvalSymlinks(v.AgentCwd); v.Status != cw.StatusIdle || strings.TrimSpace(string(where)) != got || len(v.Warnings) > 0 {
		t.Errorf("%s %s: %s in %s, warnings %q", v.Status, v.Reason, v.Error, where, v.Warnings)
	}
	if _, err := e.Diff(t.Context(), v.Alias, cw.DiffRequest{}); cw.ErrorCode(err) != cw.CodeRefused {
		t.Errorf("diff: %v", err)
	}
}

// TestSeveralProjects: a worktree and a branch in each. What is left in one of
// them is asked for, by its folder, and keeps both.
func TestSeveralProjects(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	bank := filepath.Join(filepath.Dir(e.repo), "bank", "shop") // of the same name
	lab.NewRepo(t, bank)
	req := e.request(fakecli.Script{
		Shell:  `cd shop-2 && echo a >a && git add a && git commit -q -m "Add a" && cd ../shop && echo left >left`,
		Signal: `{"status":"done"}`,
		Next:   &fakecli.Script{Expect: []string{"- `shop/`"}, Signal: `{"status":"done"}`},
	})
	req.Projects = append(req.Projects, bank)
	v := e.rest(e.mustSpawn(req).Alias)
	if v.Status != cw.StatusIdle || v.Commits() != 1 || v.Dirty() != 1 || len(v.Projects) != 2 || v.Branch != "" {
		t.Fatalf("%s %s: %s, %+v", v.Status, v.Reason, v.Error, v.Projects)
	}
	if len(v.Runs) != 2 || v.Runs[1].Reason != cw.RunCommit || v.Projects[0].State != cw.WorktreePresent || v.Projects[1].State != cw.WorktreePresent {
		t.Errorf("runs %+v, projects %+v", v.Runs, v.Projects)
	}
	if got := lab.Git(t, bank, "log", "-1", "--format=%s", "agent/"+v.Alias); got != "Add a" {
		t.Errorf("branch at %q", got)
	}
	if got := lab.Git(t, e.repo, "branch", "--list", "agent/*"); got != "" {
		t.Errorf("a branch without commits was handed over: %s", got)
	}
	d, err := e.Diff(t.Context(), v.Alias, cw.DiffRequest{Project: "shop-2"})
	if err != nil || len(d.Commits) != 1 || !strings.Contains(d.Patch, "+a") {
		t.Errorf("%+v, %v", d, err)
	}
}
