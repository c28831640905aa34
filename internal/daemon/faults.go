//go:build faultinject

package daemon

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"cw/internal/cw"
)

// A program built with the tag faultinject can be told by its environment to die at a
// step, and to leave guards out. The release is built without it: faults_none.go.
const (
	// failpointVariable names the step after which a daemon kills itself. It never
	// reaches a run.
	failpointVariable = "CW_FAILPOINT"
	// guardVariable names guards that are left out, separated by commas.
	guardVariable = "CW_GUARD_OFF"
)

// failpointOf returns the failpoint that the environment asks for, nil for none: then
// a step costs one comparison.
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

// guardsOf returns the guards that the environment leaves out, nil for none.
func guardsOf(environ []string) cw.Guards {
	off := strings.Split(variable(environ, guardVariable), ",")
	if off[0] == "" {
		return nil
	}
	return func(name string) bool { return slices.Contains(off, name) }
}
