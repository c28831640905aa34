package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/providers/parsers"
)

// nextStep is a run that follows at once, by cw's own decision.
type nextStep struct {
	Reason cw.RunReason
	Fresh  bool     // in a session of its own: the last one is gone
	Why    string   // for people
	Files  []string // of a run that corrects files: what is wrong with which
	// To is what it goes on with; nil: the account that it has, while that can be
	// used. Away is why it leaves that.
	To   *successor
	Away cw.Reason
}

// retry decides whether cw adds a run by itself, and gives the agent's counters
// from now on. A counter survives the run it led to; it is dropped when the
// matter is settled, when there were as many as there may be, and when the run
// ended badly for another reason.
func retry(e evidence, v verdict) (cw.Retries, *nextStep) {
	r := e.Retries
	switch {
	case e.StopRequested != "":
		return cw.Retries{}, nil
	case v.Next != nil || v.Status == cw.StatusParked: // it was about the account
		return r, v.Next
	case e.Resumed && e.SessionGone && e.Signal == nil:
		return r, &nextStep{Reason: e.Reason, Fresh: true, Why: "the CLI has its session no more"}
	case sessionFull(e) && v.Status == cw.StatusCrashed && v.Reason == cw.ReasonAgentError:
		return r, &nextStep{Reason: fullReason(e), Fresh: true, Why: "its session no longer fits the model"}
	case v.Reason == cw.ReasonStalled:
		r.Stall++
		return r, &nextStep{Reason: cw.RunStalled, Why: stalledText(*e.Stalled)}
	case v.Reason == cw.ReasonBudget: // what follows is withinBudget's business
		return r, nil
	case v.Reason == cw.ReasonReboot && e.AutoResume:
		return r, &nextStep{Reason: cw.RunReboot, Why: v.Error}
	case e.NoRetries || e.State != proc.StateExited: // nobody saw the end: what follows is a person's business
		return cw.Retries{}, nil
	case v.Reason == cw.ReasonNoSignal && unseen(e): // no run could begin where nobody can look
		return cw.Retries{}, nil
	case v.Reason == cw.ReasonNoSignal:
		if r.Signal >= cw.MaxSignalRetry {
			return cw.Retries{}, nil
		}
		r.Signal++
		return r, &nextStep{Reason: cw.RunMissingSignal, Why: e.SignalTrouble}
	case v.Status == cw.StatusIdle && e.Mode == cw.ModeExecute:
		return askToCommit(e, v)
	case v.Status == cw.StatusWaitingForInput:
		r.Signal = 0 // there is one
		return r, nil
	}
	return cw.Retries{}, nil
}

// sessionFull tells whether a run ended because its session no longer fits the
// model, and a new one may do better: it went on with that session, or had done
// something in it. One that follows another that was full is a person's business.
func sessionFull(e evidence) bool {
	if e.Signal != nil || e.NoRetries || e.SessionNew || !e.Summary.ResultIsError || !e.Resumed && e.Summary.ToolCalls == 0 {
		return false
	}
	return parsers.SessionFull(lastWords(e)) || parsers.SessionFull(e.Summary.Result)
}

// fullReason is the reason of the run that follows: that of the one that could not
// go on, and for a first run that it is to go on.
func fullReason(e evidence) cw.RunReason {
	if e.Reason == cw.RunSpawn {
		return cw.RunFollowUp
	}
	return e.Reason
}

// unseen tells that a worktree could not be looked at.
func unseen(e evidence) bool {
	return slices.ContainsFunc(e.Trees, func(t treeEvidence) bool { return t.Trouble != "" })
}

// askToCommit decides about an agent that says it is done.
func askToCommit(e evidence, v verdict) (cw.Retries, *nextStep) {
	r := e.Retries
	switch dirty, _ := dirtyProjects(e); {
	case len(dirty) > 0 && r.Commit < cw.MaxCommitRetry:
		r.Commit++
		return r, &nextStep{Reason: cw.RunCommit, Why: "work is not committed in " + strings.Join(dirty, ", ")}
	case len(dirty) == 0 && v.NoChanges == "" && nothingCommitted(e) && r.Empty < cw.MaxCommitRetry:
		r.Empty++
		return r, &nextStep{Reason: cw.RunCommit, Why: "it committed nothing and gave no reason"}
	}
	return cw.Retries{}, nil
}

// dirtyProjects names the projects with work that is in no commit, or in one
// where it must not be, and the folders where the agent finds them.
func dirtyProjects(e evidence) (names, dirs []string) {
	for _, t := range e.Trees {
		if t.Trouble == "" && t.Work() {
			names, dirs = append(names, t.Project), append(dirs, t.Dir)
		}
	}
	return names, dirs
}

// reservedPaths are committed paths that belong to cw.
func reservedPaths(e evidence) []string {
	var out []string
	for _, t := range e.Trees {
		out = append(out, t.Reserved...)
	}
	return out
}

// nothingCommitted tells that an agent that executes in projects made no commit
// in any of them, as far as all of them could be looked at.
func nothingCommitted(e evidence) bool {
	if e.Mode != cw.ModeExecute || len(e.Trees) == 0 {
		return false
	}
	for _, t := range e.Trees {
		if t.Trouble != "" || t.Commits > 0 {
			return false
		}
	}
	return true
}

// mayCleanUp tells whether all that an agent did is elsewhere: committed,
// handed over, copied. One that waits, crashed or was stopped keeps its places:
// another run is likely. So does one whose end nobody saw: something of it may
// still write.
func mayCleanUp(e evidence, v verdict) bool {
	if v.Status != cw.StatusIdle || e.State != proc.StateExited || len(e.Trees) == 0 || !e.OutputWhole {
		return false
	}
	for _, t := range e.Trees {
		if t.Trouble != "" || t.Missing || !t.Clean() {
			return false
		}
	}
	return true
}

func stalledText(s stallEnd) string {
	text := "it was silent for longer than its project allows"
	if s.Minutes > 0 {
		text = fmt.Sprintf("it was silent for %s", counted(s.Minutes, "minute"))
	}
	if s.Tool != "" {
		text += ", in the tool " + s.Tool
	}
	return text
}
