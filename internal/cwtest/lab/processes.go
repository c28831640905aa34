package lab

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is a process that belongs to a home.
type Process struct {
	PID     int
	Command string
	Run     string // CW_RUN of its environment
	Shim    bool
}

// Processes lists all living processes whose environment names the home. It
// finds them without cw's help, so that nothing can hide from a test.
func Processes(home string) []Process {
	var out []Process
	names, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well formed
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() || isZombie(pid) {
			continue
		}
		env, _ := os.ReadFile(name)                                                 // a shim hides it from ordinary users
		cmd, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")) // gone: empty
		p := Process{PID: pid, Command: strings.TrimSpace(string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '})))}
		_, dir, isShim := strings.Cut(p.Command, "/cw shim ")
		switch {
		case isShim && strings.HasPrefix(dir, home+"/"):
			p.Shim, p.Run = true, runOf(dir)
		case bytes.Contains(env, []byte("CW_HOME="+home+"\x00")):
			p.Run = variable(env, "CW_RUN")
		default:
			continue
		}
		out = append(out, p)
	}
	return out
}

func variable(env []byte, name string) string {
	for kv := range strings.SplitSeq(string(env), "\x00") {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// runOf is the run that a run directory belongs to.
func runOf(dir string) string {
	var spec struct{ RunID string }
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil || json.Unmarshal(data, &spec) != nil {
		return ""
	}
	return spec.RunID
}

func isZombie(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return true
	}
	_, rest, _ := bytes.Cut(data, []byte(") "))
	return bytes.HasPrefix(rest, []byte("Z"))
}

// KillProcess kills a process that Processes found; it may have ended by now.
func KillProcess(p Process) { _ = syscall.Kill(p.PID, syscall.SIGKILL) }

// Zombies lists processes that are over and that a process of the home has not
// asked after for a second.
func Zombies(home string) []int {
	first := zombies(home)
	if len(first) == 0 {
		return nil
	}
	time.Sleep(time.Second) // the moment between an end and the question after it is no fault
	still := zombies(home)
	return slices.DeleteFunc(first, func(pid int) bool { return !slices.Contains(still, pid) })
}

func zombies(home string) []int {
	parents := map[int]bool{}
	for _, p := range Processes(home) {
		parents[p.PID] = true
	}
	var out []int
	names, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, name := range names {
		data, _ := os.ReadFile(name) // gone: empty
		_, rest, _ := bytes.Cut(data, []byte(") "))
		fields := bytes.Fields(rest)
		if len(fields) < 2 || string(fields[0]) != "Z" {
			continue
		}
		parent, _ := strconv.Atoi(string(fields[1]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && parents[parent] {
			out = append(out, pid)
		}
	}
	return out
}
