package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// BootID names this boot of the machine.
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}

func readProcess(pid int) (process, error) {
	b, err := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return process{}, os.ErrProcessDone
	}
	if err != nil {
		return process{}, err
	}
	return parseStat(b)
}

// statMax is more than a line of /proc/PID/stat can take: 52 numbers and a name.
const statMax = 2048

// readStat reads such a line: three calls of the system, where os.ReadFile
// makes seven. It is read several times at each request of the API.
func readStat(path string) ([]byte, error) {
	fd, err := retried(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, statMax)
	n, err := retried(func() (int, error) { return unix.Read(fd, b) })
	return b[:max(n, 0)], err
}

// retried repeats a call that a signal interrupted.
func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// parseStat reads /proc/PID/stat (proc_pid_stat(5)). The name of the command
// stands in brackets and may itself hold blanks and brackets, so fields are
// counted from the last closing one.
func parseStat(b []byte) (process, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return process{}, fmt.Errorf("read process table: strange line %q", b)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	fields := strings.Fields(string(b[end+1:]))
	if err != nil || len(fields) < 20 {
		return process{}, fmt.Errorf("read process table: strange line %q", b)
	}
	// fields[0] is field 3 of the manual page.
	number := func(field int) uint64 {
		n, convErr := strconv.ParseUint(fields[field-3], 10, 64)
		err = errors.Join(err, convErr)
		return n
	}
	// The kernel writes -1 for the session of a process that it is just taking
	// off the table.
	released := fields[6-3] == "-1"
	if released {
		fields[6-3] = "0"
	}
	p := process{
		Identity: Identity{PID: pid, StartTime: number(22)},
		Parent:   int(number(4)),
		Session:  int(number(6)),
	}
	// A leader that ended before its threads looks like a zombie but lives on.
	threads := number(20)
	p.Dead = released || fields[0] == "X" || fields[0] == "Z" && threads <= 1
	return p, err
}

// listProcesses reads the whole process table; what vanishes meanwhile is left
// out.
func listProcesses() ([]process, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("read process table: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read process table: %w", err)
	}
	table := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil {
			table = append(table, p)
		}
	}
	return table, nil
}

func commandLine(pid int) ([]string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"), nil
}

// startedWithVariable reports whether name=value was in the environment the
// process got when it was started.
func startedWithVariable(pid int, name, value string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	want := []byte(name + "=" + value)
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if bytes.Equal(entry, want) {
			return true
		}
	}
	return false
}

// openPidfd opens a pidfd and then proves that it is of the process meant: the
// descriptor keeps the process, so a start time read afterwards under its pid
// can only be its own or that of a stranger.
func openPidfd(id Identity) (int, error) {
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		return -1, os.ErrProcessDone
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		return -1, errNoPidfd
	case err != nil:
		return -1, fmt.Errorf("open process %d: %w", id.PID, err)
	}
	if p, err := readProcess(id.PID); err != nil || p.Identity != id {
		unix.Close(fd)
		return -1, os.ErrProcessDone
	}
	return fd, nil
}

func signalByPidfd(id Identity, sig unix.Signal) error {
	fd, err := openPidfd(id)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// waitPidfd blocks until the process has ended, without a thread of its own:
// the pidfd waits in the runtime's poller.
func waitPidfd(ctx context.Context, id Identity) error {
	fd, err := openPidfd(id)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return errNoPidfd // the poller does not take it
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return err == nil && n > 0
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

// becomeSubreaper makes this process the parent of every orphan below it. With
// it "no child left" means "nothing of the tree left".
func becomeSubreaper() bool {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
}

// hideEnvironment keeps other processes of the same user from reading this
// one's environment. Command line, start time and pidfd stay open to them.
func hideEnvironment() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

// closeOnExec marks every descriptor from 3 on, so that no child gets it.
func closeOnExec() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	markDescriptors("/proc/self/fd")
}
