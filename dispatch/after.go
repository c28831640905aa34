package dispatch

import (
	"fmt"
	"strings"
	"time"

	"cw/internal/cw"
)

// Policy says how often a task that failed is started again by itself.
type Policy struct {
	Retries int // after the first try; at least 0
}

const (
	backoffLeast = 10 * time.Second
	backoffMost  = 5 * time.Minute
	// startSetbacks is how often in a row a task may fail to start before a person
	// has to look: what keeps it from starting does not pass by itself.
	startSetbacks = 6
)

// backoff is the time before a task is started again that failed n times, n from
// 1.
func backoff(n int) time.Duration {
	d := backoffLeast
	for range n - 1 {
		if d *= 2; d >= backoffMost {
			return backoffMost
		}
	}
	return d
}

// afterKind is what becomes of a task whose agent stopped working, or began
// again.
type afterKind int

const (
	afterNothing afterKind = iota
	afterClose             // it is done, with nothing to merge
	afterQueue             // its work is queued
	afterRetry             // it is started again later
	afterBlock             // a person has to look
	afterWork              // its agent works again
	afterStop              // its agent is to be stopped
)

// after is that, with what is stored of it.
type after struct {
	kind    afterKind
	why     string
	at      time.Time // of afterRetry
	outside bool      // the reason is none of the task's
}

// afterRun decides what the agent of a task means for it. a is nil when its row
// is gone; m is the task's way to the branch, nil when it has none.
func afterRun(t cw.Task, a *cw.TaskAgent, m *cw.Merge, p Policy, now time.Time) after {
	switch t.Status {
	case cw.TaskBlocked, cw.TaskPending, cw.TaskVerifying: // somebody may have started it again
		if a != nil && a.Alive() {
			return after{kind: afterWork}
		}
		return after{}
	case cw.TaskRunning:
	default:
		return after{}
	}
	switch {
	case a == nil:
		return after{kind: afterBlock, why: "its agent is gone"}
	case a.Removed:
		return after{kind: afterBlock, why: fmt.Sprintf("its agent %s was removed", a.Alias)}
	case a.Settling:
		return after{}
	}
	switch a.Status {
	case cw.StatusIdle:
		return afterIdle(t, *a, m, p, now)
	case cw.StatusCrashed:
		why := fmt.Sprintf("%s crashed (%s)", a.Alias, a.Reason)
		if a.Error != "" {
			why += ": " + a.Error
		}
		return failed(t, p, now, why, outside(a.Reason), a.RetryAt)
	case cw.StatusStopped:
		if a.Reason == cw.ReasonStalled {
			return failed(t, p, now, a.Alias+" was silent for too long and was stopped", false, nil)
		}
		return after{kind: afterBlock, why: fmt.Sprintf("%s was stopped (%s); it goes on with: cw agent resume %s", a.Alias, a.Reason, a.Alias)}
	}
	return after{}
}

func afterIdle(t cw.Task, a cw.TaskAgent, m *cw.Merge, p Policy, now time.Time) after {
	switch {
	case a.Queued > 0: // it goes on by itself
		return after{}
	case a.Dirty > 0:
		return after{kind: afterBlock, why: fmt.Sprintf("%s left work that is not committed (%s); it goes on with: cw agent resume %s \"commit your work\"", a.Alias, files(a.Dirty), a.Alias)}
	case a.Commits > 0 || m != nil || a.NoChanges != "" && t.Type == cw.TaskCheckpointVerify:
		return after{kind: afterQueue}
	case a.NoChanges != "":
		return after{kind: afterClose, why: a.NoChanges}
	}
	return failed(t, p, now, a.Alias+" left no commits, and did not say that none are needed", false, nil)
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// outside tells whether a crash is none of the task's: then it uses up no try.
func outside(r cw.Reason) bool {
	switch r {
	case cw.ReasonUsageLimit, cw.ReasonReboot, cw.ReasonLost, cw.ReasonAuth:
		return true
	}
	return false
}

// failed decides whether a task is tried again.
func failed(t cw.Task, p Policy, now time.Time, why string, outside bool, notBefore *time.Time) after {
	if !outside && t.Tries+1 > p.Retries {
		return after{kind: afterBlock, why: why}
	}
	at := now.Add(backoff(t.Tries + t.Setbacks + 1))
	if notBefore != nil && notBefore.After(at) {
		at = *notBefore
	}
	return after{kind: afterRetry, why: why, at: at, outside: outside}
}

// startFailed decides what becomes of a task whose agent could not be started.
func startFailed(t cw.Task, p Policy, now time.Time, err error) after {
	why := "it could not be started: " + err.Error()
	if hint := cw.ErrorHint(err); hint != "" {
		why += " (" + hint + ")"
	}
	// What is refused passes (a full disk, a limit); what failed is the task's: its
	// set-up, its provider.
	passes := cw.ErrorCode(err) == cw.CodeRefused
	if passes && t.Setbacks+1 >= startSetbacks {
		return after{kind: afterBlock, why: why}
	}
	return failed(t, p, now, why, passes, nil)
}

// again is what the next agent of a task is told beside it: what failed before,
// and what a person said.
func again(t cw.Task) string {
	var parts []string
	if t.Starts > 0 && strings.TrimSpace(t.Blocked) != "" {
		parts = append(parts, "An agent before you did not finish this task. Its work is kept on a branch of its own; yours begins from the initiative's branch. What failed:\n\n"+quoted(t.Blocked))
	}
	if strings.TrimSpace(t.Comment) != "" {
		parts = append(parts, "A person said of this task:\n\n"+quoted(t.Comment))
	}
	return strings.Join(parts, "\n\n")
}

// quotedMax bounds what is told of a failure, in bytes: its end says why.
const quotedMax = 8 << 10

// quoted sets a text apart from what cw says.
func quoted(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > quotedMax {
		text = "… " + strings.ToValidUTF8(text[len(text)-quotedMax:], "")
	}
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}
