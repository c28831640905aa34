package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrVanished says that a process, or the chain of its ancestors, was gone
// before it could be told to whom it belongs. Whoever asks for its rights must
// refuse.
var ErrVanished = errors.New("the process is gone")

// identifyTries bounds how often a chain of ancestors that changes under the
// eyes is walked again.
const identifyTries = 5

// Identify tells to which run a process belongs: the run directory (below
// runsDir) of the nearest live shim among the process and its ancestors. ok is
// false when there is none. An error, ErrVanished among them, means that it is
// not known.
func Identify(pid int, runsDir string) (runDir string, ok bool, err error) {
	root, err := canonical(runsDir)
	if err != nil {
		return "", false, fmt.Errorf("identify process %d: %w", pid, err)
	}
	first, err := readProcess(pid)
	if err != nil || first.Dead {
		return "", false, fmt.Errorf("identify process %d: %w", pid, ErrVanished)
	}
	for range identifyTries {
		runDir, ok, err = walkUp(first, root)
		if err == nil || !first.Alive() {
			break
		}
	}
	if err == nil && !first.Alive() {
		err = ErrVanished // its number may have been somebody else's on the way
	}
	if err != nil {
		return "", false, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return runDir, ok, nil
}

// walkUp looks at a process and its ancestors. An ancestor that is gone when
// it is read has left its children to another one: the walk is void.
func walkUp(p process, root string) (runDir string, ok bool, err error) {
	for {
		if dir := shimOf(p, root); dir != "" {
			return dir, true, nil
		}
		if p.Parent <= 0 {
			return "", false, nil
		}
		parent, err := readProcess(p.Parent)
		if err != nil && unix.Kill(p.Parent, 0) == unix.EPERM {
			return "", false, nil // hidden from us, so it is another user's
		}
		if err != nil || parent.StartTime > p.StartTime {
			return "", false, ErrVanished
		}
		p = parent
	}
}

// shimOf is the run directory whose live shim the process is. The command line
// only says where to look; that it is the shim the directory says itself.
func shimOf(p process, root string) string {
	argv, err := commandLine(p.PID)
	if err != nil || len(argv) < 3 || argv[len(argv)-2] != shimCommand {
		return ""
	}
	dir, err := canonical(argv[len(argv)-1])
	if err != nil || !strings.HasPrefix(dir, root+string(filepath.Separator)) {
		return ""
	}
	st, _, err := readStarted(dir)
	if err != nil || st.Handle.Shim() != p.Identity || !st.Handle.ThisBoot() {
		return ""
	}
	return dir
}

// canonical is a path without links, so that two of them can be compared.
func canonical(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("path %s: %w: not absolute", path, os.ErrInvalid)
	}
	return filepath.EvalSymlinks(path)
}
