package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrVanished says that a process, or the chain of its ancestors, was gone
// before it could be told to whom it belongs. Whoever asks for its rights must
// refuse.
var ErrVanished = errors.New("the process is gone")

// identifyTries bounds how often a chain of ancestors that changes under the
// eyes is walked again.
const identifyTries = 10

// Identify tells to which run a process belongs: the run directory (below
// runsDir) of the nearest live shim among the process and its ancestors. ok is
// false when there is none. An error, ErrVanished among them, means that it is
// not known.
func Identify(pid int, runsDir string) (runDir string, ok bool, err error) {
	chain, err := Ancestors(pid)
	if err != nil {
		return "", false, err
	}
	return IdentifyChain(chain, runsDir)
}

// IdentifyChain is Identify for a process whose Ancestors were asked already.
// An empty chain is that of the first process of the system, which is in no
// run.
func IdentifyChain(chain []Identity, runsDir string) (runDir string, ok bool, err error) {
	if len(chain) == 0 {
		return "", false, nil
	}
	root, err := canonical(runsDir)
	if err != nil {
		return "", false, fmt.Errorf("identify process %d: %w", chain[0].PID, err)
	}
	for _, p := range chain {
		if dir := shimOf(p, root); dir != "" {
			runDir = dir
			break
		}
	}
	if !chain[0].Alive() {
		return "", false, fmt.Errorf("identify process %d: %w", chain[0].PID, ErrVanished)
	}
	return runDir, runDir != "", nil
}

// StartedBy reports whether the first process of a chain is a descendant of the
// process with the id pid, or was started, as one of its ancestors may have been,
// with a variable in its environment. The second holds also when the parents in
// between are gone.
func StartedBy(chain []Identity, pid int, name, value string) bool {
	for i, p := range chain {
		if i > 0 && p.PID == pid || p.PID != pid && startedWithVariable(p.PID, name, value) {
			return true
		}
	}
	return false
}

// Ancestors names a process and its ancestors, nearest first: the process
// itself, its parent, and so on up to the first process of the system, which
// is left out (so is what lies above a parent that another user hides). The
// chain held as a whole at one moment. The error is ErrVanished when the
// process is gone or its ancestors do not hold still.
func Ancestors(pid int) ([]Identity, error) {
	chain, err := lineage(pid)
	if err != nil {
		return nil, fmt.Errorf("ancestors of process %d: %w", pid, err)
	}
	ids := make([]Identity, 0, len(chain))
	for _, p := range chain {
		if p.PID > 1 {
			ids = append(ids, p.Identity)
		}
	}
	return ids, nil
}

// lineage reads a process and its ancestors until two readings in a row are
// the same. A process is never given another parent that it had before, so
// between the two nothing has changed.
func lineage(pid int) ([]process, error) {
	first, err := readProcess(pid)
	if err != nil || first.Dead {
		return nil, ErrVanished
	}
	var last []process
	for range identifyTries {
		chain, err := walkUp(pid)
		if err == nil && chain[0].Identity != first.Identity {
			return nil, ErrVanished // its number is somebody else's now
		}
		if err == nil && slices.Equal(chain, last) {
			return chain, nil
		}
		if !first.Alive() {
			return nil, ErrVanished
		}
		last = chain
	}
	return nil, ErrVanished
}

// walkUp reads a process and its ancestors once. An ancestor that is gone when
// it is read has left its children to another one: the walk is void.
func walkUp(pid int) ([]process, error) {
	p, err := readProcess(pid)
	if err != nil || p.Dead {
		return nil, ErrVanished
	}
	chain := []process{p}
	for p.Parent > 0 {
		parent, err := readProcess(p.Parent)
		if err != nil && unix.Kill(p.Parent, 0) == unix.EPERM {
			break // hidden from us, so it is another user's
		}
		if err != nil || parent.Dead || parent.StartTime > p.StartTime {
			return nil, ErrVanished
		}
		chain, p = append(chain, parent), parent
	}
	return chain, nil
}

// shimOf is the run directory whose live shim the process is. The command line
// only says where to look; that it is the shim the directory says itself.
func shimOf(p Identity, root string) string {
	argv, err := commandLine(p.PID)
	if err != nil || len(argv) < 3 || argv[len(argv)-2] != shimCommand {
		return ""
	}
	dir, err := canonical(argv[len(argv)-1])
	if err != nil || !strings.HasPrefix(dir, root+string(filepath.Separator)) {
		return ""
	}
	st, _, err := readStarted(dir)
	if err != nil || st.Handle.Shim() != p || !st.Handle.ThisBoot() {
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
