package proc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// BootID names this boot of the machine.
func BootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

func readProcess(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		// No such process gives an empty answer, which x/sys calls EIO.
		return process{}, os.ErrProcessDone
	}
	return fromKinfo(k), nil
}

func fromKinfo(k *unix.KinfoProc) process {
	pid := int(k.Proc.P_pid)
	session, err := unix.Getsid(pid)
	if err != nil {
		session = 0
	}
	at := k.Proc.P_starttime
	return process{
		Identity: Identity{PID: pid, StartTime: uint64(at.Sec)*1e6 + uint64(at.Usec)},
		Parent:   int(k.Eproc.Ppid),
		Session:  session,
		Dead:     k.Proc.P_stat == zombie,
	}
}

func listProcesses() ([]process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("read process table: %w", err)
	}
	table := make([]process, 0, len(all))
	for i := range all {
		table = append(table, fromKinfo(&all[i]))
	}
	return table, nil
}

// arguments reads kern.procargs2: the number of arguments, the path of the
// program, padding, the arguments, the environment.
func arguments(pid int) (argv, env []string, err error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, nil, err
	}
	if len(b) < 4 {
		return nil, nil, errors.New("read arguments: short answer")
	}
	count := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = bytes.TrimLeft(b[i:], "\x00")
	}
	all := strings.Split(string(b), "\x00")
	if count > len(all) {
		return nil, nil, errors.New("read arguments: short answer")
	}
	return all[:count], all[count:], nil
}

func commandLine(pid int) ([]string, error) {
	argv, _, err := arguments(pid)
	return argv, err
}

func startedWithVariable(pid int, name, value string) bool {
	_, env, err := arguments(pid)
	if err != nil {
		return false
	}
	for _, entry := range env {
		if entry == name+"="+value {
			return true
		}
	}
	return false
}

func signalByPidfd(Identity, unix.Signal) error { return errNoPidfd }

func waitPidfd(context.Context, Identity) error { return errNoPidfd }

// becomeSubreaper: macOS has none.
func becomeSubreaper() bool { return false }

// hideEnvironment: macOS shows it to the same user in any case.
func hideEnvironment() {}

func closeOnExec() { markDescriptors("/dev/fd") }
