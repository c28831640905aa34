package orchestrator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cw/internal/cw"
	"cw/worktree"
)

func tree(dir string, look worktree.Look) func(*evidence) {
	return func(e *evidence) {
		e.Trees = append(e.Trees, treeEvidence{Project: dir, Dir: dir, Look: look})
	}
}

func counted0(r cw.Retries) func(*evidence) { return func(e *evidence) { e.Retries = r } }

func says(status cw.SignalStatus) func(*evidence) {
	s := cw.Signal{Status: status}
	if status == cw.SignalQuestions {
		s.Questions = []cw.SignalQuestion{{Text: "Which?"}}
	}
	return signalled(s)
}

var (
	clean     = worktree.Look{Commits: 1}
	empty     = worktree.Look{}
	dirty     = worktree.Look{Commits: 1, Dirty: []string{"a.txt"}}
	touchesCW = worktree.Look{Commits: 1, Reserved: []string{".cw/input/task.md"}}
	ignores   = worktree.Look{Commits: 1, Ignored: []string{"secrets.env"}}
)

// TestRetry holds each rule about runs that cw adds by itself, and what becomes
// of the counters.
func TestRetry(t *testing.T) {
	t.Parallel()
	resumed := func(e *evidence) { e.Reason, e.Resumed = cw.RunAnswers, true }
	gone := func(e *evidence) { resumed(e); silentFailure(e); e.SessionGone = true }
	stalled := func(e *evidence) { e.Stalled = &stallEnd{Minutes: 7, Tool: "Bash"} }
	script := func(e *evidence) { e.NoRetries = true }
	tests := []struct {
		name    string
		e       evidence
		status  cw.AgentStatus
		next    *nextStep // but for Why
		retries cw.Retries
		cleanUp bool
	}{
		{"no signal: asked once", ended(tree("shop", clean)), cw.StatusCrashed, &nextStep{Reason: cw.RunMissingSignal}, cw.Retries{Signal: 1}, false},
		{"no signal again: crashed, and counted anew", ended(tree("shop", clean), counted0(cw.Retries{Signal: 1})), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"no signal of a program: it would do all again", ended(script), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"no signal after a commit retry", ended(tree("shop", dirty), counted0(cw.Retries{Commit: 1})), cw.StatusCrashed, &nextStep{Reason: cw.RunMissingSignal}, cw.Retries{Signal: 1, Commit: 1}, false},
		{"killed: no retry", ended(killedBy9, counted0(cw.Retries{Commit: 1})), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"a limit: no retry", ended(limited(nil)), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"its own error: no retry", ended(says(cw.SignalError), tree("shop", dirty)), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"stopped by a person: nothing follows", ended(stop, tree("shop", dirty), counted0(cw.Retries{Signal: 1})), cw.StatusStopped, nil, cw.Retries{}, false},
		{"stopped by a person, session gone", ended(stop, gone), cw.StatusStopped, nil, cw.Retries{}, false},

		{"done and clean", ended(says(cw.SignalDone), tree("shop", clean), counted0(cw.Retries{Commit: 1, Signal: 1, Empty: 1})), cw.StatusIdle, nil, cw.Retries{}, true},
		{"done and dirty: asked to commit", ended(says(cw.SignalDone), tree("shop", dirty)), cw.StatusIdle, &nextStep{Reason: cw.RunCommit}, cw.Retries{Commit: 1}, false},
		{"done and dirty again: it stays", ended(says(cw.SignalDone), tree("shop", dirty), counted0(cw.Retries{Commit: 1})), cw.StatusIdle, nil, cw.Retries{}, false},
		{"one of two is dirty", ended(says(cw.SignalDone), tree("shop", clean), tree("api", dirty)), cw.StatusIdle, &nextStep{Reason: cw.RunCommit}, cw.Retries{Commit: 1}, false},
		{"it committed cw's own files", ended(says(cw.SignalDone), tree("shop", touchesCW)), cw.StatusIdle, &nextStep{Reason: cw.RunCommit}, cw.Retries{Commit: 1}, false},
		{"ignored files keep the worktree, nothing is asked", ended(says(cw.SignalDone), tree("shop", ignores)), cw.StatusIdle, nil, cw.Retries{}, false},
		{"done with nothing: asked once", ended(says(cw.SignalDone), tree("shop", empty)), cw.StatusIdle, &nextStep{Reason: cw.RunCommit}, cw.Retries{Empty: 1}, false},
		{"done with nothing again", ended(says(cw.SignalDone), tree("shop", empty), counted0(cw.Retries{Empty: 1})), cw.StatusIdle, nil, cw.Retries{}, true},
		{"done with nothing, then dirty", ended(says(cw.SignalDone), tree("shop", dirty), counted0(cw.Retries{Empty: 1})), cw.StatusIdle, &nextStep{Reason: cw.RunCommit}, cw.Retries{Empty: 1, Commit: 1}, false},
		{"nothing was needed", ended(signalled(cw.Signal{Status: cw.SignalDone, NoChanges: "it is there"}), tree("shop", empty)), cw.StatusIdle, nil, cw.Retries{}, true},
		{"done without a project", ended(says(cw.SignalDone)), cw.StatusIdle, nil, cw.Retries{}, false},
		{"done, and its output was not copied whole", ended(says(cw.SignalDone), tree("shop", clean), func(e *evidence) { e.OutputWhole = false }), cw.StatusIdle, nil, cw.Retries{}, false},
		{"an architect is not asked to commit", ended(says(cw.SignalDone), tree("shop", empty), func(e *evidence) { e.Mode = cw.ModePlan }), cw.StatusIdle, nil, cw.Retries{}, true},
		{"no signal, and the worktree cannot be looked at", ended(func(e *evidence) { e.Trees = []treeEvidence{{Project: "shop", Trouble: "it is a link"}} }), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"done, and the worktree cannot be looked at", ended(says(cw.SignalDone), func(e *evidence) { e.Trees = []treeEvidence{{Project: "shop", Trouble: "git is gone"}} }), cw.StatusIdle, nil, cw.Retries{}, false},
		{"questions keep the worktree", ended(says(cw.SignalQuestions), tree("shop", clean), counted0(cw.Retries{Signal: 1, Commit: 1})), cw.StatusWaitingForInput, nil, cw.Retries{Commit: 1}, false},

		{"the session is gone", ended(gone), cw.StatusCrashed, &nextStep{Reason: cw.RunAnswers, Fresh: true}, cw.Retries{}, false},
		{"a fresh one found no session: that cannot be", ended(gone, func(e *evidence) { e.Resumed = false }), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"the session is gone, yet it left a signal", ended(gone, says(cw.SignalDone), tree("shop", clean)), cw.StatusIdle, nil, cw.Retries{}, true},
		{"silent for too long", ended(stalled), cw.StatusStopped, &nextStep{Reason: cw.RunStalled}, cw.Retries{Stall: 1}, false},
		{"silent for too long, with a signal", ended(stalled, says(cw.SignalDone), tree("shop", clean)), cw.StatusIdle, nil, cw.Retries{}, true},
		{"done, and nobody saw the end: it stays", ended(lost, says(cw.SignalDone), tree("shop", clean)), cw.StatusIdle, nil, cw.Retries{}, false},
		{"done and dirty, and nobody saw the end: nothing follows", ended(lost, says(cw.SignalDone), tree("shop", dirty)), cw.StatusIdle, nil, cw.Retries{}, false},
		{"done before a reboot: it does not go on", ended(rebooted, says(cw.SignalDone), tree("shop", clean), func(e *evidence) { e.AutoResume = true }), cw.StatusIdle, nil, cw.Retries{}, false},
		{"a reboot", ended(rebooted), cw.StatusCrashed, nil, cw.Retries{}, false},
		{"a reboot, and it is to go on", ended(rebooted, func(e *evidence) { e.AutoResume = true }), cw.StatusCrashed, &nextStep{Reason: cw.RunReboot}, cw.Retries{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := outcome(tt.e)
			if v.Status != tt.status {
				t.Errorf("status %s, want %s", v.Status, tt.status)
			}
			if v.Next != nil {
				if v.Next.Why == "" {
					t.Error("nobody is told why it goes on")
				}
				v.Next.Why = ""
			}
			if diff := cmp.Diff(tt.next, v.Next); diff != "" {
				t.Errorf("what follows (-want +got):\n%s", diff)
			}
			if v.Retries != tt.retries {
				t.Errorf("counters %+v, want %+v", v.Retries, tt.retries)
			}
			if v.CleanUp != tt.cleanUp {
				t.Errorf("clean up: %v, want %v", v.CleanUp, tt.cleanUp)
			}
		})
	}
}

// TestRetriesEnd holds for any agent, however it ends again and again, that the
// runs cw adds by itself come to an end.
func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r cw.Retries
		for runs := 1; ; runs++ {
			e := ended(counted0(r))
			if rapid.Bool().Draw(t, "signal") {
				says(rapid.SampledFrom([]cw.SignalStatus{cw.SignalDone, cw.SignalQuestions, cw.SignalError}).Draw(t, "status"))(&e)
			}
			tree("shop", rapid.SampledFrom([]worktree.Look{clean, empty, dirty, touchesCW, ignores}).Draw(t, "tree"))(&e)
			e.Resumed = runs > 1
			v := outcome(e)
			if v.Next == nil {
				return
			}
			if r = v.Retries; runs > 4 {
				t.Fatalf("%d runs, and it goes on: %+v", runs, v)
			}
		}
	})
}
