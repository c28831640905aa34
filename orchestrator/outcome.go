package orchestrator

import (
	"fmt"
	"slices"
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
	SignalBroken  bool       // there is a file, and it is none: what it was to say is not known
	Summary       parsers.Summary
	StderrTail    string
	StderrLimit   *cw.Limit
	StderrAuth    bool
	Mend          string // the command that mends refused credentials; "": there is none
	GaveUpAuth    bool   // all that time its credentials were refused
	GaveUp        string // why cw ended it: it tried again in vain
	Overload      string // the CLI's words when too many requests ended it; "": something else did
	Unknown       int    // lines the parser did not know
	Output        int64  // bytes of raw output
	Trees         []treeEvidence

	Reason      cw.RunReason // of the run
	Resumed     bool         // it was to go on with a session of the CLI
	SessionGone bool         // and the CLI has that session no more
	SessionNew  bool         // it began a session of its own, with a hand-over
	Stalled     *stallEnd    // a rule ended it for its silence; nil: none did
	AutoResume  bool         // it is to go on after a restart of the machine
	Retries     cw.Retries   // runs that cw added by itself so far
	NoRetries   bool         // its provider is a plain program: run again it would do all again
	OutputWhole bool         // everything in .cw/output is in the run directory
	Derived     bool         // its CLI cannot write a signal: cw judges by exit, commits and patterns
	Reserve     *reserve     // when its account cannot be used: what it may go on with
	Cost        spend        // of the run
	Overspent   bool         // it was ended because a budget is spent
	Spent       budgets      // with this run
	Unwatched   string       // why its budgets cannot hold it, when such runs are to end; "": they can
	Open        int          // questions that its calls asked and nobody answered
}

// stallEnd is what is known of a run that a rule ended for its silence.
type stallEnd struct {
	Minutes int    // of silence; 0 when a daemon that is gone measured it
	Tool    string // that was in use; "" when none is known
}

// treeEvidence is what git shows in one project.
type treeEvidence struct {
	Project string
	Dir     string // its folder as the agent finds it from its cwd: "." when it is that
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
	Retries   cw.Retries // from now on
	Next      *nextStep  // what follows at once; nil for nothing
	NoNext    bool       // nothing may follow: a budget is spent, or nobody saw the end
	CleanUp   bool       // its worktrees may go
}

// outcome decides how a run ended. The order of authority: a person's stop;
// the agent's valid signal of this run; a usage limit seen in the stream; the
// CLI's own result; exit code and signal number, as evidence only, because
// they prove nothing (measured: killed runs, denied tools and limits exit 0).
// A lost supervisor and a restart of the machine are such evidence, too: what
// the agent said before is not undone by them, and its questions are not lost.
func outcome(e evidence) verdict {
	v := failOver(e, decide(e))
	if v.Result == "" {
		v.Result = strings.TrimSpace(e.Summary.Result)
	}
	if e.Signal != nil && len(e.Signal.Unknown) > 0 {
		v.Warnings = append(v.Warnings, "signal.json has fields that cw does not know: "+strings.Join(e.Signal.Unknown, ", "))
	}
	if e.State != proc.StateExited && v.Status != cw.StatusStopped && v.Status != cw.StatusCrashed {
		v.Warnings = append(v.Warnings, "its supervisor did not see its end; its signal decides. Its worktree stays until its next run ends")
	}
	v.Retries, v.Next = retry(e, v)
	v = withinBudget(e, v)
	if v.Next == nil { // else the run that follows tells what is left then
		v.Warnings = slices.Concat(v.Warnings, workWarnings(e), emptyWarning(e, v), openWarning(e))
	}
	v.CleanUp = v.Next == nil && mayCleanUp(e, v)
	v.NoNext = e.Overspent || len(e.Spent) > 0 || e.Unwatched != "" || e.State != proc.StateExited
	return v
}

func decide(e evidence) verdict {
	switch {
	case e.StopRequested != "":
		return verdict{Status: cw.StatusStopped, Reason: cw.ReasonUser}
	case e.Exit.StartError != "":
		return crash(cw.ReasonStartFailed, "the CLI could not be started: "+e.Exit.StartError)
	case e.Signal != nil:
		return bySignal(*e.Signal)
	case seenLimit(e) != nil:
		v := crash(cw.ReasonUsageLimit, "the account is at its usage limit"+colon(seenLimit(e).Text))
		v.RetryAt = seenLimit(e).Until
		return v
	case e.Stalled != nil:
		return verdict{Status: cw.StatusStopped, Reason: cw.ReasonStalled}
	case e.Overspent:
		return verdict{Status: cw.StatusStopped, Reason: cw.ReasonBudget}
	case e.Rebooted && e.State != proc.StateExited:
		return crash(cw.ReasonReboot, "the machine was restarted while it ran")
	case e.State != proc.StateExited:
		return crash(cw.ReasonLost, "its supervisor was killed; how the run ended is unknown. What was left of it was ended")
	case e.Derived && endedWell(e):
		return derived(e)
	}
	return byExit(e)
}

func crash(reason cw.Reason, text string) verdict {
	return verdict{Status: cw.StatusCrashed, Reason: reason, Error: text}
}

// mended is a text with the command that mends what it tells of.
func mended(text, command string) string {
	if command == "" {
		return text
	}
	return text + "; log in: " + command
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

// endedWell tells whether a CLI that writes no signal ended as one does that has
// done its work. Its word alone would prove little; with it goes what git shows.
// One that wrote a signal that nobody can read wanted to say something else.
func endedWell(e evidence) bool {
	return e.GaveUp == "" && e.Overload == "" && !refusedLogin(e) && !e.Summary.ResultIsError &&
		e.Exit.Signal == 0 && e.Exit.Code == 0 && !e.SignalBroken && !unseen(e)
}

// derived is the verdict about such a run: it is done. Where it left nothing
// behind, that is said in the place of a reason that it cannot give.
func derived(e evidence) verdict {
	v := verdict{Status: cw.StatusIdle, Result: strings.TrimSpace(e.Summary.LastText.String())}
	if dirty, _ := dirtyProjects(e); len(dirty) == 0 && nothingCommitted(e) {
		v.NoChanges = "it ended by itself and changed nothing"
	}
	return v
}

// byExit decides by what the CLI said and how its process ended.
func byExit(e evidence) verdict {
	switch {
	case e.Overload != "":
		return crash(cw.ReasonUsageLimit, "the provider takes no more requests of the account for now"+colon(e.Overload))
	case e.GaveUp != "" && e.GaveUpAuth:
		return crash(cw.ReasonAuth, mended("the provider refused the credentials: "+e.GaveUp, e.Mend))
	case e.GaveUp != "":
		return crash(cw.ReasonAgentError, e.GaveUp)
	case refusedLogin(e):
		return crash(cw.ReasonAuth, mended("the provider refused the credentials"+colon(lastWords(e)), e.Mend))
	case e.Exit.Signal != 0:
		return crash(cw.ReasonKilled, killedText(e.Exit))
	case e.Output == 0 && e.Exit.Code != 0 && !e.NoRetries: // a program may work without a word
		return crash(cw.ReasonStartFailed, fmt.Sprintf("the CLI ended with code %d before it began%s", e.Exit.Code, colon(lastWords(e))))
	case e.Summary.ResultIsError:
		return crash(cw.ReasonAgentError, "the CLI reported an error"+colon(lastWords(e)))
	}
	if e.Derived && (e.Exit.Code != 0 || !e.SignalBroken) {
		return crash(cw.ReasonAgentError, fmt.Sprintf("the CLI ended with code %d%s", e.Exit.Code, colon(lastWords(e))))
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
	if !stderrCounts(e) {
		return nil
	}
	return e.StderrLimit
}

// stderrCounts tells whether what a CLI wrote on its standard error may say why it
// ended: its own result says nothing else. Much on it was overcome.
func stderrCounts(e evidence) bool {
	s := e.Summary
	return !s.HasResult || s.ResultIsError && s.ResultBucket == ""
}

// refusedLogin tells whether the provider refused the credentials of the run.
func refusedLogin(e evidence) bool {
	return e.Summary.AuthError || e.StderrAuth && stderrCounts(e)
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

// openWarning notes the questions that outlive the run whose call asked them:
// its end stands, and they stay in the inbox.
func openWarning(e evidence) []string {
	if e.Open == 0 {
		return nil
	}
	return []string{fmt.Sprintf("its run ended while %s to people %s open; what is answered is in its next run",
		counted(e.Open, "question"), map[bool]string{true: "is", false: "are"}[e.Open == 1])}
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
