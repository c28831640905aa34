package orchestrator

import (
	"database/sql"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cw/internal/cw"
	"cw/internal/cwtest/fakecli"
	"cw/internal/cwtest/lab"
	"cw/internal/proc"
)

// TestKilledText: memory is named only with evidence.
func TestKilledText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		exit   proc.Exit
		memory bool
	}{
		{proc.Exit{Signal: 9}, false},
		{proc.Exit{Signal: 9, OOMKills: 1}, true},
		{proc.Exit{Signal: 11}, false},
	} {
		text := killedText(tt.exit)
		if strings.Contains(text, "memory") != tt.memory || !strings.Contains(text, signalName(tt.exit.Signal)) {
			t.Errorf("%+v: %q", tt.exit, text)
		}
	}
}

// exec changes rows behind the back of an engine that runs: one that is at rest
// would call it damage.
func (e *engine) exec(query string, args ...any) {
	e.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(string(e.home), "cw.db"))
	must(e.t, err)
	_, err = db.ExecContext(e.t.Context(), query, args...)
	must(e.t, err)
	must(e.t, db.Close())
}

// reboot ends the engine and everything of its home, and lets the runs be of
// another boot.
func (e *engine) reboot() {
	e.t.Helper()
	e.exec(`UPDATE runs SET handle = CAST(json_set(CAST(handle AS TEXT), '$.bootId', 'another') AS BLOB) WHERE ended_at IS NULL`)
	e.stopRun()
	for left := lab.Processes(string(e.home)); len(left) > 0; left = lab.Processes(string(e.home)) {
		for _, p := range left {
			_ = syscall.Kill(p.PID, syscall.SIGKILL) // it may have ended by now
		}
	}
}

// TestReboot: a run of another boot has crashed, with that reason, unless its
// agent or its project wants it to go on.
func TestReboot(t *testing.T) {
	t.Parallel()
	on := true
	for _, tt := range []struct {
		name           string
		agent, project bool
		resumed        bool
	}{
		{"as a rule", false, false, false},
		{"its agent goes on", true, false, true},
		{"its project goes on", false, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			e.silent("1h")
			req := e.request(fakecli.Script{Pieces: 1, Tame: true, Hang: true, Next: &fakecli.Script{Signal: `{"status":"done","noChanges":"none"}`}})
			req.Provider, req.AutoResume = "silent", tt.agent
			agent := e.mustSpawn(req)
			e.until(agent.Alias, func(v cw.AgentView) bool { return v.Activity != nil && v.Activity.LastAt != nil }) // it knows its script
			if tt.project {
				_, err := e.SetProject(t.Context(), agent.Projects[0].Project, cw.ProjectSettings{AutoResume: &on})
				must(t, err)
			}
			e.reboot()
			e.boot()
			v := e.rest(agent.Alias)
			first := v.Runs[0]
			if first.Outcome != cw.StatusCrashed || first.OutcomeReason != cw.ReasonReboot {
				t.Errorf("the run is %s %s", first.Outcome, first.OutcomeReason)
			}
			switch {
			case !tt.resumed && (len(v.Runs) != 1 || v.Status != cw.StatusCrashed || v.Reason != cw.ReasonReboot):
				t.Errorf("%d runs, %s %s: %s", len(v.Runs), v.Status, v.Reason, v.Error)
			case tt.resumed && (len(v.Runs) != 2 || v.Status != cw.StatusIdle || v.Runs[1].Reason != cw.RunReboot):
				t.Errorf("%d runs, %s %s: %s", len(v.Runs), v.Status, v.Reason, v.Error)
			}
		})
	}
}

// TestAutoResume: options that cannot be read say nothing.
func TestAutoResume(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for text, want := range map[string]bool{`{"autoResume":true}`: true, `{}`: false, `broken`: false, ``: false} {
		st := cw.RunState{Agent: cw.Agent{OptionsJSON: text}, Worktrees: []cw.AgentWorktree{{ProjectID: "gone"}}}
		if got := e.autoResume(t.Context(), st); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestSignalOutlivesItsRun: what an agent said before its supervisor was killed,
// or the machine was restarted, counts. Nothing follows by itself, and its
// worktree stays: nobody saw the end.
func TestSignalOutlivesItsRun(t *testing.T) {
	t.Parallel()
	const asks, done = `{"status":"questions","questions":["Which?"]}`, `{"status":"done","result":"added it"}`
	for _, tt := range []struct {
		name, signal string
		end          func(*engine)
		want         cw.AgentStatus
	}{
		{"asked, then its supervisor was killed", asks, (*engine).killShims, cw.StatusWaitingForInput},
		{"done, then its supervisor was killed", done, (*engine).killShims, cw.StatusIdle},
		{"asked, then the machine was restarted", asks, func(e *engine) { e.reboot(); e.boot() }, cw.StatusWaitingForInput},
		{"done, then the machine was restarted", done, func(e *engine) { e.reboot(); e.boot() }, cw.StatusIdle},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			agent := e.mustSpawn(e.request(fakecli.Script{File: "work.txt", Content: "half\n", Signal: tt.signal, Linger: filepath.Join(e.books, "never")}))
			eventually(t, "the signal", func() bool {
				_, _, err := readSignal(agent.AgentCwd)
				return err == nil
			})
			tt.end(e)
			v := e.rest(agent.Alias)
			if v.Status != tt.want || v.Error != "" || len(v.Runs) != 1 {
				t.Errorf("%s %s after %d runs: %s", v.Status, v.Reason, len(v.Runs), v.Error)
			}
			if (len(v.PendingQuestions) == 1) != (tt.signal == asks) {
				t.Errorf("%d questions", len(v.PendingQuestions))
			}
			if len(v.Warnings) == 0 || !there(filepath.Join(agent.AgentCwd, "work.txt")) {
				t.Errorf("its work is gone, or nobody is told: %q", v.Warnings)
			}
		})
	}
}

// killShims kills the supervisor of every run that goes on.
func (e *engine) killShims() {
	runs, err := e.Store.UnfinishedRuns(e.t.Context())
	must(e.t, err)
	for _, st := range runs {
		h, err := e.handleOf(st)
		must(e.t, err)
		must(e.t, h.Shim().Signal(syscall.SIGKILL))
	}
}
