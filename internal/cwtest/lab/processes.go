package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, []byte("CW_HOME="+home+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() || isZombie(pid) {
			continue
		}
		p := Process{PID: pid}
		for kv := range strings.SplitSeq(string(env), "\x00") {
			if run, ok := strings.CutPrefix(kv, "CW_RUN="); ok {
				p.Run = run
			}
		}
		cmd, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")) // gone: empty
		p.Command = strings.TrimSpace(string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '})))
		p.Shim = strings.Contains(p.Command, "/cw shim ")
		out = append(out, p)
	}
	return out
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
