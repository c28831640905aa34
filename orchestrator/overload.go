package orchestrator

import (
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/providers/parsers"
)

// A provider that takes no more requests for now is no usage limit: it is over
// soon. CLIs wait for that by themselves, some for minutes. When one gave up all
// the same its account rests, as at a limit, for a short time that doubles with
// each run in a row that got nowhere; the agent goes on with another account, or
// with the same one after that time.
const (
	// kindOverload is the kind of such a limit.
	kindOverload = "overload"
	// overloadFirst is the first rest. The longest is that of a limit of which
	// nobody knows the end.
	overloadFirst = time.Minute
)

// overloadOf gives the words with which a run ended because there were too many
// requests; "" when something else ended it. trouble is what its CLI said while it
// tried again. A CLI that says nothing in its stream says it at the end of its
// standard error.
func overloadOf(e evidence, trouble string) string {
	silent := !e.Summary.HasResult && e.Summary.LastError.Text == ""
	last := lastLine(parsers.OwnLines(e.StderrTail))
	switch {
	case e.Summary.Overload:
		return e.Summary.LastError.Text
	case e.GaveUp != "" && parsers.RateLimited(trouble):
		return trouble
	case silent && e.Exit.Code != 0 && !e.NoRetries && parsers.RateLimited(last):
		return last
	}
	return ""
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// overloadPause is how long an account rests after a run of an agent that ended
// so.
func overloadPause(runs []cw.Run, id cw.AccountID) time.Duration {
	pause := overloadFirst
	for _, r := range slices.Backward(runs) {
		switch {
		case r.EndedAt == nil || r.StartedAt == nil: // it goes on, or never began
		case r.OutcomeReason != cw.ReasonUsageLimit || r.Usage.OutputTokens > 0: // it came further
			return pause
		case r.AccountID == id:
			pause = min(2*pause, cw.DefaultCooldown)
		}
	}
	return pause
}
