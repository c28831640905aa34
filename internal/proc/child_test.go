package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childDir is where children put down their pids: the run directory, which is
// that of their stdout. A child with an empty environment is told by an
// argument.
func childDir() string {
	if dir := os.Getenv("CHILD_DIR"); dir != "" {
		return dir
	}
	out, err := os.Readlink("/proc/self/fd/1")
	if err != nil {
		panic(err)
	}
	return filepath.Dir(out)
}

func putPID(name string) {
	tmp := filepath.Join(childDir(), name+".pid.tmp")
	_ = os.WriteFile(tmp, []byte(strconv.Itoa(os.Getpid())), 0o600)
	_ = os.Rename(tmp, filepath.Join(childDir(), name+".pid"))
}

func hang() int {
	time.Sleep(2 * time.Minute) // an end for what a broken test leaves behind
	return 1
}

// spawnChild starts the test binary with another verb and lets go of it.
func spawnChild(setsid bool, env []string, verb string, args ...string) *exec.Cmd {
	path, _ := os.Executable()
	cmd := exec.Command(path, append([]string{"child", verb}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// runChild is the little command `child VERB ARGS`.
func runChild(verb string, args []string) int {
	switch verb {
	case "exit": // exit N
		n, _ := strconv.Atoi(args[0])
		return n
	case "hang": // put down the pid and stay
		putPID(args[0])
		return hang()
	case "deaf": // the same, without an ear for SIGTERM, SIGHUP, SIGINT
		signal.Ignore(unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
		putPID(args[0])
		return hang()
	case "polite": // ends with 7 when asked to
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGTERM)
		putPID(args[0])
		<-c
		return 7
	case "orphan": // double fork: start the rest of the arguments and end
		spawnChild(true, os.Environ(), args[0], args[1:]...)
		return 0
	case "family":
		return family(args[0])
	case "nest": // a chain of processes, the last one puts down its pid
		n, _ := strconv.Atoi(args[0])
		if n == 0 {
			putPID("deep")
			return hang()
		}
		_ = spawnChild(n%2 == 0, os.Environ(), "nest", strconv.Itoa(n-1)).Wait()
		return 0
	case "ledger": // one line per start, into a file of its own
		f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 1
		}
		fmt.Fprintf(f, "%d\n", os.Getpid())
		return 0
	case "flood": // N MiB without a line end
		n, _ := strconv.Atoi(args[0])
		block := bytes.Repeat([]byte("x"), 1<<20)
		for range n {
			if _, err := os.Stdout.Write(block); err != nil {
				return 1
			}
		}
		return 0
	case "report":
		return report()
	case "comet": // fork and end, over and over
		n, _ := strconv.Atoi(args[0])
		signal.Ignore(unix.SIGTERM)
		putPID("comet")
		if n > 0 {
			spawnChild(true, os.Environ(), "comet", strconv.Itoa(n-1))
		}
		return 0
	case "bomb": // every process starts two more, down to a depth
		signal.Ignore(unix.SIGTERM)
		putPID("bomb" + args[0])
		if n, _ := strconv.Atoi(args[0]); n > 0 {
			spawnChild(true, os.Environ(), "bomb", strconv.Itoa(n-1))
			spawnChild(false, os.Environ(), "bomb", strconv.Itoa(n-1))
		}
		return hang()
	case "starter": // start the shim of a run and die at once
		path, _ := os.Executable()
		null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		_, _ = Detached{Binary: path, Args: []string{shimCommand, args[0]}, Env: os.Environ()}.start(null, null)
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		return hang()
	case "lock":
		if _, err := Lock(args[0]); err != nil {
			return 1
		}
		putPID("lock")
		return hang()
	case "script": // let a shell do it
		cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", args[0])
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "no such child:", verb)
	return 99
}

// family starts children that try to get away, and then stays ("hang") or
// ends ("exit").
func family(then string) int {
	env := append(os.Environ(), "CHILD_DIR="+childDir())
	bare := []string{"CHILD_DIR=" + childDir()} // without CW_RUN
	spawnChild(false, env, "hang", "same-session")
	spawnChild(true, env, "hang", "own-session")
	spawnChild(true, env, "deaf", "own-session-deaf")
	spawnChild(false, env, "orphan", "deaf", "double-fork")
	spawnChild(false, bare, "hang", "bare")
	spawnChild(true, bare, "hang", "bare-own-session")
	for _, name := range familyNames {
		for until := time.Now().Add(15 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(childDir(), name+".pid")); err == nil {
				break
			}
		}
	}
	putPID("family")
	if then == "exit" {
		return 3
	}
	return hang()
}

var familyNames = []string{"same-session", "own-session", "own-session-deaf", "double-fork", "bare", "bare-own-session"}

// childReport is what a command sees of itself.
type childReport struct {
	Descriptors []string
	Status      string
	Env         []string
	Session     int
	PID         int
	Core        uint64
	Dir         string
	Stdin       string
}

func report() int {
	var r childReport
	entries, _ := os.ReadDir("/proc/self/fd") // among them what the Go runtime opened itself
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/sys/") {
			r.Descriptors = append(r.Descriptors, e.Name()+" "+target)
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	r.Status, r.Env, r.PID = string(status), os.Environ(), os.Getpid()
	r.Session, _ = unix.Getsid(0)
	var limit unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &limit)
	r.Core = limit.Max
	r.Dir, _ = os.Getwd()
	var in bytes.Buffer
	_, _ = in.ReadFrom(os.Stdin)
	r.Stdin = in.String()
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 1
	}
	return 0
}
