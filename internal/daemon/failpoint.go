package daemon

import (
	"os"
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
