package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// SpecVersion is the version of run.json that this program writes and reads.
const SpecVersion = 1

// RunVariable is the environment variable that carries the RunID. The shim
// sets it for the command; by it processes of a lost run are recognised.
const RunVariable = "CW_RUN"

const (
	specName    = "run.json"
	lockName    = "lock"
	startedName = "started.json"
	stopName    = "stop.json"
	exitName    = "exit.json"
	shimLogName = "shim.log"
)

// defaultStopGrace is used when a Spec names none.
const defaultStopGrace = 10 * time.Second

// Spec is what the shim needs to start one command; it is stored as run.json.
// The environment is not part of it: it reaches the command through the shim's
// own environment and never through a file.
type Spec struct {
	// Version is SpecVersion; Prepare fills it in.
	Version int `json:"version"`
	// RunID names the run; it becomes CW_RUN. Unique on this machine.
	RunID string `json:"runId"`
	// Argv is the command with its arguments. A command without a slash is
	// looked up in the PATH of the shim's environment, a relative one below Dir.
	Argv []string `json:"argv"`
	// Dir is the working directory of the command; absolute.
	Dir string `json:"dir"`
	// Stdin is the file the command reads, Stdout and Stderr are the files it
	// appends to (made 0600 when missing). Empty means /dev/null; a relative
	// path is below the run directory. A Stdin that is named and missing is a
	// start error.
	Stdin string `json:"stdin,omitempty"`
	// StdinPipe gives Stdin through a pipe: some programs that take messages on
	// stdin read nothing from a file.
	StdinPipe bool   `json:"stdinPipe,omitempty"`
	Stdout    string `json:"stdout,omitempty"`
	Stderr    string `json:"stderr,omitempty"`
	// StopGrace is the time between SIGTERM and SIGKILL when a stop does not
	// say; 0 means 10 s.
	StopGrace time.Duration `json:"stopGraceNs,omitempty"`
	// Meta is kept for the caller, unread: what it needs to recover the run.
	Meta json.RawMessage `json:"meta,omitempty"`
}

func (s Spec) check() error {
	switch {
	case s.Version != SpecVersion:
		return fmt.Errorf("version %d is not known, only %d", s.Version, SpecVersion)
	case s.RunID == "":
		return errors.New("no run id")
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return errors.New("no command")
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("working directory %q is not absolute", s.Dir)
	}
	return nil
}

func (s Spec) grace() time.Duration {
	if s.StopGrace <= 0 {
		return defaultStopGrace
	}
	return s.StopGrace
}

// Prepare makes the run directory (0700) when it is missing and writes
// run.json into it, whole and synced. A run that was started is refused.
func Prepare(dir string, s Spec) error {
	s.Version = SpecVersion
	if err := s.check(); err != nil {
		return fmt.Errorf("prepare run %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("prepare run: %w", err)
	}
	for _, name := range []string{startedName, exitName} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("prepare run %s: it was started before: %s is there", dir, name)
		}
	}
	if err := writeJSON(dir, specName, s); err != nil {
		return fmt.Errorf("prepare run: %w", err)
	}
	return nil
}

// ReadSpec reads run.json. The error is fs.ErrNotExist when the run was never
// prepared.
func ReadSpec(dir string) (Spec, error) {
	var s Spec
	if err := readJSON(filepath.Join(dir, specName), &s); err != nil {
		return Spec{}, fmt.Errorf("read run: %w", err)
	}
	if err := s.check(); err != nil {
		return Spec{}, fmt.Errorf("read run %s: %w", dir, err)
	}
	return s, nil
}
