package orchestrator

import (
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers/parsers"
	"cw/worktree"
)

// listMax bounds how many paths a message names.
const listMax = 5

// evidence is everything that is known about how a run ended. It is gathered
// first; deciding looks at nothing else.
type evidence struct {
	Mode          cw.Mode
	StopRequested string     // a person asked for the end: term or kill
	State         proc.State // exited or lost
	Rebooted      bool       // the machine was restarted since the run began
	Exit          proc.Exit  // only when exited
	Signal        *cw.Signal // only a valid one of this run
	SignalTrouble string     // why there is none
	Summary       parsers.Summary
	StderrTail    string
	StderrLimit   *cw.Limit
	StderrAuth    bool
	GaveUp        string // why cw ended it: it tried again in vain
	Unknown       int    // lines the parser did not know
	Output        int64  // bytes of raw output
	Trees         []treeEvidence
}

// treeEvidence is what git shows in one project.
type treeEvidence struct {
	Project string
	Trouble string // why it could not be looked at; Look is empty then
	worktree.Look
}

// verdict is how a run ended.
type verdict struct {
	Status    cw.AgentStatus
	Reason    cw.Reason
	RetryAt   *time.Time
	Error     string
	Result    string
	NoChanges string
	Warnings  []string
	Questions []cw.SignalQuestion
}

// outcome decides how a run ended. The order of authority: a person's stop;
// the agent's valid signal of this run; a usage limit seen in the stream; the
// CLI's own result; exit code and signal number, as evidence only, because
// they prove nothing (measured: killed runs, denied tools and limits exit 0).
func outcome(e evidence) verdict {
	v := decide(e)
	if v.Result == "" {
		v.Result = strings.TrimSpace(e.Summary.Result)
	}
	v.Warnings = append(v.Warnings, workWarnings(e, v)...)
	if e.Signal != nil && len(e.Signal.Unknown) > 0 {
		v.Warnings = append(v.Warnings, "signal.json has fields that cw does not know: "+strings.Join(e.Signal.Unknown, ", "))
	}
	return v
}

func decide(e evidence) verdict {
	switch {
	case e.StopRequested != "":
		return verdict{Status: cw.StatusStopped, Reason: cw.ReasonUser}
	case e.Rebooted && e.State != proc.StateExited:
		return crash(cw.ReasonReboot, "the machine was restarted while it ran")
	case e.State != proc.StateExited:
		return crash(cw.ReasonLost, "its supervisor was killed; how the run ended is unknown. What was left of it was ended"+signalNote(e))
	case e.Exit.StartError != "":
		return crash(cw.ReasonStartFailed, "the CLI could not be started: "+e.Exit.StartError)
	case e.Signal != nil:
		return bySignal(*e.Signal)
	}
	return withoutSignal(e)
}

func crash(reason cw.Reason, text string) verdict {
	return verdict{Status: cw.StatusCrashed, Reason: reason, Error: text}
}

func signalNote(e evidence) string {
	if e.Signal == nil {
		return ""
	}
	return fmt.Sprintf(" (it had left the signal %q)", e.Signal.Status)
}

func bySignal(s cw.Signal) verdict {
	switch s.Status {
	case cw.SignalDone:
		return verdict{Status: cw.StatusIdle, Result: s.Result, NoChanges: s.NoChanges}
	case cw.SignalQuestions:
		return verdict{Status: cw.StatusWaitingForInput, Questions: s.Questions, Result: s.Result}
	}
	return verdict{Status: cw.StatusCrashed, Reason: cw.ReasonAgentError, Error: s.Error, Result: s.Result}
}

func withoutSignal(e evidence) verdict {
	if limit := seenLimit(e); limit != nil {
		v := crash(cw.ReasonUsageLimit, "the account is at its usage limit"+colon(limit.Text))
		v.RetryAt = limit.Until
		return v
	}
	switch {
	case e.GaveUp != "":
		return crash(cw.ReasonAgentError, e.GaveUp)
	case e.Summary.AuthError || e.StderrAuth:
		return crash(cw.ReasonAuth, "the provider refused the credentials"+colon(lastWords(e)))
	case e.Exit.Signal != 0:
		return crash(cw.ReasonKilled, fmt.Sprintf("the CLI was ended by %s, not by cw", signalName(e.Exit.Signal)))
	case e.Output == 0 && e.Exit.Code != 0:
		return crash(cw.ReasonStartFailed, fmt.Sprintf("the CLI ended with code %d before it began%s", e.Exit.Code, colon(lastWords(e))))
	case e.Summary.ResultIsError:
		return crash(cw.ReasonAgentError, "the CLI reported an error"+colon(lastWords(e)))
	}
	text := fmt.Sprintf("the run ended (exit code %d) without a readable %s: %s", e.Exit.Code, cw.SignalPath, e.SignalTrouble)
	if e.Exit.Code != 0 {
		text += colon(lastWords(e))
	}
	return crash(cw.ReasonNoSignal, text)
}

func seenLimit(e evidence) *cw.Limit {
	if e.Summary.Limit != nil {
		return e.Summary.Limit
	}
	return e.StderrLimit
}

// lastWords is the CLI's own explanation: its last error, its result, or the
// end of its standard error.
func lastWords(e evidence) string {
	switch {
	case e.Summary.LastError.Text != "":
		return e.Summary.LastError.Text
	case e.Summary.ResultIsError && e.Summary.Result != "":
		return e.Summary.Result
	}
	return strings.TrimSpace(e.StderrTail)
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// workWarnings tells about work that a person would otherwise miss. For an
// agent that executes, idle with neither commits nor a reason is suspicious.
func workWarnings(e evidence, v verdict) []string {
	var out []string
	commits, known := 0, true
	for _, t := range e.Trees {
		commits += t.Commits
		if t.Trouble != "" {
			known = false
			out = append(out, fmt.Sprintf("the worktree of %s could not be looked at, so its branch was not handed over: %s", t.Project, t.Trouble))
			continue
		}
		if t.Missing {
			out = append(out, fmt.Sprintf("the worktree of %s is gone", t.Project))
			continue
		}
		for _, note := range t.Notes {
			out = append(out, t.Project+": "+note)
		}
		if len(t.Dirty) > 0 {
			out = append(out, fmt.Sprintf("%s has %s, kept in the worktree: %s", t.Project, counted(len(t.Dirty), "uncommitted file"), some(t.Dirty)))
		}
		if len(t.Reserved) > 0 {
			out = append(out, fmt.Sprintf("%s: commits touch cw's own files: %s", t.Project, some(t.Reserved)))
		}
	}
	if v.Status == cw.StatusIdle && e.Mode == cw.ModeExecute && len(e.Trees) > 0 && known && commits == 0 && v.NoChanges == "" {
		out = append(out, "it says it is done, but committed nothing and gave no reason (noChanges)")
	}
	return out
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func some(paths []string) string {
	if len(paths) <= listMax {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:listMax], ", "), len(paths)-listMax)
}
