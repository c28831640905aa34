package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/safefile"
)

// busyRetries is how often a program file that is still open for writing is
// tried again (every 10 ms). A fork elsewhere in this process may hold a
// descriptor of a file that was just written.
const busyRetries = 50

// Detached is a program that is to outlive this one.
type Detached struct {
	// Binary is an absolute path, Args are its arguments without the name.
	Binary string
	Args   []string
	// Env is the whole environment.
	Env []string
	// Dir is the working directory; empty means /.
	Dir string
	// Log is the file its output is appended to (made 0600 when missing).
	Log string
}

// Daemonize starts a program in a session of its own, with stdin from
// /dev/null, output to the log, and no other descriptor. It does not wait for
// anything the program does. When the program ends while this process lives,
// it is reaped.
func Daemonize(d Detached) (pid int, err error) {
	out, err := openAppend(d.Log)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", d.Binary, err)
	}
	defer out.Close()
	return d.start(out, out)
}

func (d Detached) start(stdout, stderr *os.File) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", d.Binary, err)
	}
	defer null.Close()
	dir := d.Dir
	if dir == "" {
		dir = "/"
	}
	closeOnExec()
	pid, err := forkExec(d.Binary, append([]string{d.Binary}, d.Args...), &syscall.ProcAttr{
		Dir:   dir,
		Env:   d.Env,
		Files: []uintptr{null.Fd(), stdout.Fd(), stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", d.Binary, err)
	}
	go reapChild(pid)
	return pid, nil
}

// forkExec starts a program; a file that is busy is tried again.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	for range busyRetries {
		pid, err = syscall.ForkExec(path, argv, attr)
		if !errors.Is(err, syscall.ETXTBSY) {
			return pid, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return pid, err
}

// reapChild waits for a child of this process, so that no zombie stays. It
// ends with the child and owes nobody an answer.
func reapChild(pid int) {
	if p, err := readProcess(pid); err == nil {
		// No context: whoever starts a process has to reap it whatever else is
		// given up. In the poller the wait costs no thread.
		_ = waitPidfd(context.Background(), p.Identity)
	}
	for {
		_, err := unix.Wait4(pid, nil, 0, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func openAppend(path string) (*os.File, error) {
	return safefile.OpenAppend(path)
}

// markDescriptors is closeOnExec by the list of open descriptors in a
// directory of the system.
func markDescriptors(list string) {
	entries, err := os.ReadDir(list)
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
