package orchestrator

import (
	"fmt"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
)

// commandEnd is what is known of a command that is over.
type commandEnd struct {
	unwanted   bool       // its end was wanted before it was started
	startError string     // why it could not even be tried
	exit       *proc.Exit // nil: it was lost
	startedAt  time.Time
	size       int64 // bytes in the log when it was over
}

// took is how long it ran.
func (e commandEnd) took() time.Duration {
	if e.exit == nil || e.startedAt.IsZero() {
		return 0
	}
	return max(0, e.exit.EndedAt.Sub(e.startedAt))
}

// commandVerdict is what the end of a command means.
type commandVerdict struct {
	ok      bool
	reason  string // in words, when it is not
	outside bool   // the reason is not the project's
	code    int    // exit code, where there is one
}

// judgeCommand decides by evidence alone, so that it comes to the same answer
// whoever looks, and however often.
func judgeCommand(c cw.ProjectCommand, e commandEnd) commandVerdict {
	fail := func(format string, args ...any) commandVerdict {
		return commandVerdict{reason: fmt.Sprintf(format, args...)}
	}
	outside := func(format string, args ...any) commandVerdict {
		v := fail(format, args...)
		v.outside = true
		return v
	}
	switch {
	case e.unwanted:
		return outside("stopped by somebody")
	case e.startError != "":
		return outside("could not be started: %s", e.startError)
	case e.exit == nil:
		return outside("was lost: the machine was restarted, or something ended the process that watched over it")
	case e.exit.StartError != "":
		return outside("could not be started: %s", e.exit.StartError)
	case e.size >= commandOutputMax: // a log that was cut before has this size
		return fail("wrote more than %d MiB", commandOutputMax>>20)
	case e.exit.Stopped != "" && e.took() >= c.Timeout:
		return fail("stopped after %s", shownSpan(c.Timeout))
	case e.exit.Stopped != "":
		return outside("stopped by somebody")
	case e.exit.OOMKills > 0:
		return outside("killed for want of memory")
	case e.exit.Signal != 0 || e.exit.Code != 0:
		return commandVerdict{reason: e.exit.String(), code: e.exit.Code}
	}
	return commandVerdict{ok: true}
}
