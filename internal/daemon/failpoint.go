package daemon

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"cw/internal/cw"
)

// failpointVariable names the step after which a daemon kills itself. It is
// for tests of recovery; nothing else reads it, and it never reaches a run.
const failpointVariable = "CW_FAILPOINT"

// failpointOf gives the failpoint that the environment asks for, nil for none:
// then a step costs one comparison.
func failpointOf(environ []string) cw.Failpoint {
	wanted := variable(environ, failpointVariable)
	if wanted == "" {
		return nil
	}
	return func(step string) {
		if step == wanted {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // the death that tests want: no clean-up, no last words
		}
	}
}

// guardVariable names guards that are taken out, separated by commas. It is for
// tests that want to see a promise broken; nothing else reads it.
const guardVariable = "CW_GUARD_OFF"

// guardsOf gives the guards that the environment takes out, nil for none.
func guardsOf(environ []string) cw.Guards {
	off := strings.Split(variable(environ, guardVariable), ",")
	if off[0] == "" {
		return nil
	}
	return func(name string) bool { return slices.Contains(off, name) }
}
