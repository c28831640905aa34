package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers/parsers"
	"cw/worktree"
)

// ended is a run that ended by itself, with output and no signal.
func ended(change ...func(*evidence)) evidence {
	e := evidence{Mode: cw.ModeExecute, State: proc.StateExited, Output: 100, SignalTrouble: "it is not there", OutputWhole: true}
	for _, f := range change {
		f(&e)
	}
	return e
}

func signalled(s cw.Signal) func(*evidence) {
	return func(e *evidence) { e.Signal, e.SignalTrouble = &s, "" }
}

func limited(until *time.Time) func(*evidence) {
	return func(e *evidence) { e.Summary.Limit = &cw.Limit{Until: until, Text: "limit reached"} }
}

func failedResult(e *evidence) { e.Summary.HasResult, e.Summary.ResultIsError = true, true }
func goodResult(e *evidence)   { e.Summary.HasResult = true }
func noAuth(e *evidence)       { e.Summary.AuthError = true }
func killedBy9(e *evidence)    { e.Exit = proc.Exit{Code: 137, Signal: 9} }

func silentFailure(e *evidence) {
	e.Output, e.Exit.Code, e.StderrTail = 0, 1, "Error: Session ID is already in use.\n"
}

func stop(e *evidence)     { e.StopRequested = "term" }
func lost(e *evidence)     { e.State = proc.StateLost }
func rebooted(e *evidence) { e.State, e.Rebooted = proc.StateLost, true }

// TestOutcome walks down the order of authority: each row has everything that
// the rows below it have, too, and still ends as it says.
func TestOutcome(t *testing.T) {
	t.Parallel()
	until := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	done := cw.Signal{Status: cw.SignalDone, Result: "added it", NoChanges: "nothing to do"}
	asks := cw.Signal{Status: cw.SignalQuestions, Questions: []cw.SignalQuestion{{Text: "Which?"}}}
	fails := cw.Signal{Status: cw.SignalError, Error: "no compiler"}
	tests := []struct {
		name   string
		e      evidence
		status cw.AgentStatus
		reason cw.Reason
		says   string // in Error
	}{
		{"a stop beats a signal", ended(stop, signalled(done)), cw.StatusStopped, cw.ReasonUser, ""},
		{"a stop beats a lost supervisor", ended(stop, lost), cw.StatusStopped, cw.ReasonUser, ""},
		{"a stop beats a reboot", ended(stop, rebooted), cw.StatusStopped, cw.ReasonUser, ""},
		{"a stop beats a start error", ended(stop, func(e *evidence) { e.Exit.StartError = "stopped before it was started" }), cw.StatusStopped, cw.ReasonUser, ""},
		{"a stop beats everything of the CLI", ended(stop, limited(&until), noAuth, killedBy9, failedResult), cw.StatusStopped, cw.ReasonUser, ""},
		{"a reboot", ended(rebooted), cw.StatusCrashed, cw.ReasonReboot, "restarted"},
		{"done beats a reboot", ended(signalled(done), rebooted), cw.StatusIdle, "", ""},
		{"questions beat a reboot", ended(signalled(asks), rebooted), cw.StatusWaitingForInput, "", ""},
		{"ended before the reboot", ended(signalled(done), func(e *evidence) { e.Rebooted = true }), cw.StatusIdle, "", ""},
		{"lost", ended(lost), cw.StatusCrashed, cw.ReasonLost, "unknown"},
		{"done beats a lost supervisor", ended(signalled(done), lost), cw.StatusIdle, "", ""},
		{"questions beat a lost supervisor", ended(signalled(asks), lost), cw.StatusWaitingForInput, "", ""},
		{"an error beats a lost supervisor", ended(signalled(fails), lost), cw.StatusCrashed, cw.ReasonAgentError, "no compiler"},
		{"a limit beats a lost supervisor", ended(limited(&until), lost), cw.StatusCrashed, cw.ReasonUsageLimit, "limit reached"},
		{"a limit beats a stall", ended(limited(&until), killedBy9, func(e *evidence) { e.Stalled = &stallEnd{} }), cw.StatusCrashed, cw.ReasonUsageLimit, "limit reached"},
		{"its directory was emptied", ended(func(e *evidence) { e.State = proc.StateFresh }), cw.StatusCrashed, cw.ReasonLost, "unknown"},
		{"a stall beats the exit", ended(killedBy9, func(e *evidence) { e.Stalled = &stallEnd{Minutes: 3} }), cw.StatusStopped, cw.ReasonStalled, ""},
		{"done beats a stall", ended(signalled(done), func(e *evidence) { e.Stalled = &stallEnd{} }), cw.StatusIdle, "", ""},
		{"a stop beats a stall", ended(stop, func(e *evidence) { e.Stalled = &stallEnd{} }), cw.StatusStopped, cw.ReasonUser, ""},
		{"a start error beats a signal", ended(signalled(done), func(e *evidence) { e.Exit.StartError = "no such file" }), cw.StatusCrashed, cw.ReasonStartFailed, "no such file"},
		{"done beats a limit", ended(signalled(done), limited(&until)), cw.StatusIdle, "", ""},
		{"done beats a kill", ended(signalled(done), killedBy9), cw.StatusIdle, "", ""},
		{"done beats an exit code", ended(signalled(done), func(e *evidence) { e.Exit.Code = 3 }), cw.StatusIdle, "", ""},
		{"questions", ended(signalled(asks), limited(&until), failedResult), cw.StatusWaitingForInput, "", ""},
		{"error", ended(signalled(fails), limited(&until), failedResult), cw.StatusCrashed, cw.ReasonAgentError, "no compiler"},
		{"a limit beats the rest", ended(limited(&until), noAuth, killedBy9, failedResult), cw.StatusCrashed, cw.ReasonUsageLimit, "usage limit: limit reached"},
		{"a limit told on stderr", ended(noAuth, func(e *evidence) { e.StderrLimit = &cw.Limit{Text: "too much"} }), cw.StatusCrashed, cw.ReasonUsageLimit, "too much"},
		{"a limit on stderr that was overcome", ended(goodResult, func(e *evidence) { e.StderrLimit = &cw.Limit{Text: "too much"} }), cw.StatusCrashed, cw.ReasonNoSignal, "not there"},
		{"a limit on stderr beside another error", ended(failedResult, func(e *evidence) {
			e.Summary.ResultBucket, e.StderrLimit = cw.BucketTransient, &cw.Limit{Text: "too much"}
		}), cw.StatusCrashed, cw.ReasonAgentError, "reported an error"},
		{"credentials on stderr of a tool", ended(goodResult, func(e *evidence) { e.StderrAuth = true }), cw.StatusCrashed, cw.ReasonNoSignal, "not there"},
		{"a limit in silence", ended(limited(nil), silentFailure), cw.StatusCrashed, cw.ReasonUsageLimit, "limit"},
		{"credentials beat a kill", ended(noAuth, killedBy9, failedResult), cw.StatusCrashed, cw.ReasonAuth, "credentials"},
		{"credentials told on stderr", ended(silentFailure, func(e *evidence) { e.StderrAuth = true }), cw.StatusCrashed, cw.ReasonAuth, "already in use"},
		{"killed beats the result", ended(killedBy9, failedResult), cw.StatusCrashed, cw.ReasonKilled, "SIGKILL"},
		{"killed in silence", ended(killedBy9, func(e *evidence) { e.Output = 0 }), cw.StatusCrashed, cw.ReasonKilled, "SIGKILL"},
		{"silent from the start", ended(silentFailure), cw.StatusCrashed, cw.ReasonStartFailed, "before it began: Error: Session ID is already in use."},
		{"the CLI's own word", ended(failedResult, func(e *evidence) { e.Summary.Result = "API Error 500" }), cw.StatusCrashed, cw.ReasonAgentError, "API Error 500"},
		{"the CLI's last error", ended(failedResult, func(e *evidence) {
			e.Summary.Result, e.Summary.LastError.Text = "sorry", "overloaded"
		}), cw.StatusCrashed, cw.ReasonAgentError, "overloaded"},
		{"no signal", ended(func(e *evidence) { e.SignalTrouble = "it is a named pipe, not a plain file" }), cw.StatusCrashed, cw.ReasonNoSignal, "signal.json: it is a named pipe, not a plain file"},
		{"no signal, exit 0, silent", ended(func(e *evidence) { e.Output = 0 }), cw.StatusCrashed, cw.ReasonNoSignal, "exit code 0"},
		{"no signal, exit 3", ended(func(e *evidence) { e.Exit.Code, e.StderrTail = 3, "boom\n" }), cw.StatusCrashed, cw.ReasonNoSignal, "exit code 3) without a readable .cw/output/signal.json: it is not there: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := outcome(tt.e)
			if v.Status != tt.status || v.Reason != tt.reason || !strings.Contains(v.Error, tt.says) {
				t.Errorf("%s %q: %s\nwant %s %q: %s", v.Status, v.Reason, v.Error, tt.status, tt.reason, tt.says)
			}
			if (tt.status == cw.StatusCrashed) != (v.Error != "") {
				t.Errorf("status %s with error %q", v.Status, v.Error)
			}
			if wantAt := tt.reason == cw.ReasonUsageLimit && tt.e.Summary.Limit != nil && tt.e.Summary.Limit.Until != nil; (v.RetryAt != nil) != wantAt {
				t.Errorf("retry at %v", v.RetryAt)
			}
			if (len(v.Questions) > 0) != (v.Status == cw.StatusWaitingForInput) {
				t.Errorf("%s with %d questions", v.Status, len(v.Questions))
			}
		})
	}
}

// TestOutcomeResult: the agent's word is the result, else the CLI's.
func TestOutcomeResult(t *testing.T) {
	t.Parallel()
	cli := func(e *evidence) { e.Summary.HasResult, e.Summary.Result = true, "  the CLI's words\n" }
	for _, tt := range []struct {
		name, want string
		e          evidence
	}{
		{"the agent's", "mine", ended(cli, signalled(cw.Signal{Status: cw.SignalDone, Result: "mine"}))},
		{"the CLI's", "the CLI's words", ended(cli, signalled(cw.Signal{Status: cw.SignalDone}))},
		{"kept when stopped", "the CLI's words", ended(cli, stop)},
		{"none", "", ended()},
	} {
		if v := outcome(tt.e); v.Result != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, v.Result, tt.want)
		}
	}
}

func TestOutcomeWarnings(t *testing.T) {
	t.Parallel()
	done := signalled(cw.Signal{Status: cw.SignalDone})
	trees := func(looks ...worktree.Look) func(*evidence) {
		return func(e *evidence) {
			for i, l := range looks {
				e.Trees = append(e.Trees, treeEvidence{Project: fmt.Sprintf("shop%d", i+1), Look: l})
			}
		}
	}
	const nothing = "it says it is done, but committed nothing and gave no reason (noChanges)"
	many := []string{"a", "b", "c", "d", "e", "f", "g"}
	tests := []struct {
		name string
		e    evidence
		want []string
	}{
		{"all well", ended(done, trees(worktree.Look{Commits: 1})), nil},
		{"committed in one of two", ended(done, trees(worktree.Look{}, worktree.Look{Commits: 1})), nil},
		{"nothing committed", ended(done, trees(worktree.Look{})), []string{nothing}},
		{"nothing needed", ended(signalled(cw.Signal{Status: cw.SignalDone, NoChanges: "was right"}), trees(worktree.Look{})), nil},
		{"no project", ended(done), nil},
		{"another mode", ended(done, trees(worktree.Look{}), func(e *evidence) { e.Mode = cw.ModePlan }), nil},
		{"nothing committed, but it asks", ended(signalled(cw.Signal{Status: cw.SignalQuestions, Questions: []cw.SignalQuestion{{Text: "?"}}}), trees(worktree.Look{})), nil},
		{"nothing committed, and stopped", ended(stop, trees(worktree.Look{})), nil},
		{"uncommitted", ended(done, trees(worktree.Look{Commits: 1, Dirty: []string{"a b", "c"}})), []string{"shop1 has 2 uncommitted files, kept in the worktree: a b, c"}},
		{"uncommitted after a stop", ended(stop, trees(worktree.Look{Dirty: many})), []string{"shop1 has 7 uncommitted files, kept in the worktree: a, b, c, d, e and 2 more"}},
		{"reserved", ended(done, trees(worktree.Look{Commits: 1, Reserved: []string{".cw/output/x"}})), []string{"shop1: commits touch cw's own files: .cw/output/x"}},
		{"gone", ended(done, trees(worktree.Look{Missing: true, Commits: 2, Notes: []string{"the worktree is gone"}})), []string{"the worktree of shop1 is gone"}},
		{"on another branch", ended(done, trees(worktree.Look{Commits: 2, Notes: []string{"the worktree is on x, not on agent/y"}})), []string{"shop1: the worktree is on x, not on agent/y"}},
		{"not to be looked at", ended(done, func(e *evidence) {
			e.Trees = []treeEvidence{{Project: "shop1", Trouble: "it is a link"}}
		}), []string{"the worktree of shop1 could not be looked at, so its branch was not handed over: it is a link"}},
		{"unknown fields", ended(signalled(cw.Signal{Status: cw.SignalDone, Unknown: []string{"mood", "zeal"}})), []string{"signal.json has fields that cw does not know: mood, zeal"}},
	}
	for _, tt := range tests {
		tt.e.Retries = cw.Retries{Commit: cw.MaxCommitRetry, Empty: cw.MaxCommitRetry} // else it is asked first
		if diff := cmp.Diff(tt.want, outcome(tt.e).Warnings); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// drawEvidence makes any evidence that can be gathered.
func drawEvidence(t *rapid.T) evidence {
	text := rapid.SampledFrom([]string{"", " ", "boom", "line\nline"})
	e := evidence{
		Mode:          rapid.SampledFrom([]cw.Mode{cw.ModeExecute, cw.ModePlan}).Draw(t, "mode"),
		StopRequested: rapid.SampledFrom([]string{"", "", "", "term", "kill"}).Draw(t, "stop"),
		State:         rapid.SampledFrom([]proc.State{proc.StateExited, proc.StateExited, proc.StateLost, proc.StateFresh}).Draw(t, "state"),
		Rebooted:      rapid.Bool().Draw(t, "rebooted"),
		StderrTail:    text.Draw(t, "stderr"),
		StderrAuth:    rapid.Bool().Draw(t, "stderr auth"),
		Output:        rapid.Int64Range(0, 2).Draw(t, "output"),
		SignalTrouble: "it is not there",
		Summary: parsers.Summary{
			HasResult: rapid.Bool().Draw(t, "has result"), Result: text.Draw(t, "result"),
			ResultIsError: rapid.Bool().Draw(t, "is error"), AuthError: rapid.Bool().Draw(t, "auth"),
			LastError: parsers.Failure{Text: text.Draw(t, "last error")},
		},
	}
	if e.State == proc.StateExited {
		e.Exit = proc.Exit{Code: rapid.IntRange(-1, 255).Draw(t, "code"), Signal: rapid.IntRange(0, 64).Draw(t, "signal"), StartError: text.Draw(t, "start error")}
	}
	if rapid.Bool().Draw(t, "limit") {
		e.Summary.Limit = &cw.Limit{Text: text.Draw(t, "limit text")}
	}
	raw := rapid.SampledFrom([]string{"", "", `{"status":"done"}`, `{"status":"error"}`, `{"status":"error","error":" "}`, `{"status":"questions","questions":["a?"]}`}).Draw(t, "signal.json")
	if sig, err := cw.ParseSignal([]byte(raw)); err == nil {
		e.Signal, e.SignalTrouble = &sig, ""
	}
	return e
}

// TestOutcomeProperties holds for whatever may be found at the end of a run.
func TestOutcomeProperties(t *testing.T) {
	t.Parallel()
	reasons := []cw.Reason{
		cw.ReasonNoSignal, cw.ReasonAgentError, cw.ReasonKilled, cw.ReasonLost,
		cw.ReasonStartFailed, cw.ReasonUsageLimit, cw.ReasonAuth, cw.ReasonReboot,
	}
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvidence(t)
		v := outcome(e)
		switch v.Status {
		case cw.StatusCrashed:
			if !slices.Contains(reasons, v.Reason) || strings.TrimSpace(v.Error) == "" {
				t.Fatalf("crashed, reason %q, error %q", v.Reason, v.Error)
			}
		case cw.StatusStopped:
			if e.StopRequested == "" {
				t.Fatal("stopped, and nobody asked for it")
			}
		case cw.StatusIdle, cw.StatusWaitingForInput:
			if e.Signal == nil {
				t.Fatalf("%s without a signal", v.Status)
			}
			if e.State != proc.StateExited && (v.Next != nil || v.CleanUp || len(v.Warnings) == 0) {
				t.Fatalf("nobody saw its end, and cw goes on as if it had: %+v", v)
			}
		default:
			t.Fatalf("a run ended in %s", v.Status)
		}
		if e.StopRequested != "" && v.Status != cw.StatusStopped {
			t.Fatalf("stopped by a person, but %s", v.Status)
		}
		if !cw.StatusRunning.CanBecome(v.Status) {
			t.Fatalf("a running agent cannot become %s", v.Status)
		}
	})
}
