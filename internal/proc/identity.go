package proc

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollEvery is how often is looked where the system cannot tell.
const pollEvery = 100 * time.Millisecond

// errNoPidfd says that the system has no pidfd.
var errNoPidfd = errors.New("no pidfd on this system")

// Identity names one process of this boot: a pid may be used again, a pid with
// its start time is not.
type Identity struct {
	PID       int
	StartTime uint64
}

// process is one row of the system's process table.
type process struct {
	Identity
	Parent  int
	Session int
	Dead    bool // a zombie: it has ended and waits to be reaped
}

// Self is the identity of this process.
func Self() (Identity, error) {
	p, err := readProcess(os.Getpid())
	return p.Identity, err
}

// IdentityOf is the identity of the process that has this pid now. The error
// is os.ErrProcessDone when there is none.
func IdentityOf(pid int) (Identity, error) {
	p, err := readProcess(pid)
	if err == nil && p.Dead {
		err = os.ErrProcessDone
	}
	return p.Identity, err
}

// Alive reports whether the process is there and not a zombie.
func (id Identity) Alive() bool {
	if id.PID <= 0 {
		return false
	}
	p, err := readProcess(id.PID)
	return err == nil && p.Identity == id && !p.Dead
}

// Signal sends a signal to exactly this process. The error is
// os.ErrProcessDone when it is gone, also when another has its pid now.
func (id Identity) Signal(sig unix.Signal) error {
	if id.PID <= 1 {
		return os.ErrProcessDone
	}
	err := signalByPidfd(id, sig)
	if errors.Is(err, errNoPidfd) {
		if !id.Alive() {
			return os.ErrProcessDone
		}
		err = unix.Kill(id.PID, sig)
	}
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// waitGone blocks until the process has ended (a zombie has). Without a pidfd
// it looks every 100 ms.
func (id Identity) waitGone(ctx context.Context) error {
	err := waitPidfd(ctx, id)
	if !errors.Is(err, errNoPidfd) {
		return err
	}
	for id.Alive() {
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits for d, less when ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
