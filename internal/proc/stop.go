package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// stopPatience is what a shim gets beyond the grace before Stop does its
	// work from outside.
	stopPatience = 5 * time.Second
	// recordPatience is what a shim gets to write the end once its tree is
	// gone.
	recordPatience = 2 * time.Second
)

// Stop ends a run and returns when nothing of its tree is left: SIGTERM to the
// whole tree, grace, SIGKILL; with grace 0 SIGKILL at once. A run that was
// never started is closed, so that no late shim can start it; one that is over
// is left alone. The shim is asked first; when it does not manage, or is lost,
// the tree is killed from here. A later Stop can shorten the grace.
//
// A h that is not zero alone says which processes these are: what lies in the
// directory, where the command can write, is then neither believed about them
// nor about the end while the shim lives. With a zero h the directory serves.
// When ctx ends, Stop lets go: what was asked of the shim stays asked.
func Stop(ctx context.Context, dir string, h Handle, grace time.Duration) error {
	asked := false
	for {
		obs, err := ObserveKnown(dir, h)
		if errors.Is(err, os.ErrNotExist) {
			return nil // nothing tells of a run
		}
		if err != nil {
			return err
		}
		switch {
		case obs.State == StateExited:
			return nil
		case obs.State == StateLost:
			_, err := KillTree(ctx, obs.Handle.RunID, obs.Handle)
			return err
		case obs.State == StateFresh:
			if err := closeFresh(dir, grace); !errors.Is(err, errNotMine) {
				return err
			}
		case asked:
			return stopFromOutside(ctx, dir, obs.Handle)
		default:
			asked = askShim(dir, obs.Handle, grace)
		}
		if err := awaitStopped(ctx, dir, h, asked, grace); err != nil {
			return err
		}
	}
}

// askShim hands the grace over and signals the shim. It is false when the shim
// has not put down its name yet, or has just ended.
func askShim(dir string, h Handle, grace time.Duration) bool {
	sig := unix.SIGQUIT
	if grace > 0 {
		sig = unix.SIGTERM
		// On a full disk it cannot be written: then the grace is the Spec's,
		// and this side's patience ends it.
		_ = writeJSON(dir, stopName, stopRequest{Grace: grace})
	}
	if !h.ThisBoot() || h.Shim().Signal(sig) != nil {
		return false
	}
	_ = h.Shim().Signal(unix.SIGCONT) // a shim that somebody suspended hears nothing
	return true
}

// awaitStopped waits for the end of the run: as long as the shim may take when
// it was asked, a moment otherwise.
func awaitStopped(ctx context.Context, dir string, h Handle, asked bool, grace time.Duration) error {
	if !asked {
		return sleep(ctx, startPoll)
	}
	limited, cancel := context.WithTimeout(ctx, grace+stopPatience)
	defer cancel()
	_, err := Wait(limited, dir, h)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// stopFromOutside does what the shim did not manage. With the tree gone the
// shim gets a last chance to write the end itself.
func stopFromOutside(ctx context.Context, dir string, h Handle) error {
	t := newTree(h.RunID, h)
	if _, err := t.kill(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	_, err := Wait(limited, dir, h)
	if err == nil || ctx.Err() != nil {
		return err
	}
	_, err = KillTree(ctx, h.RunID, h)
	return err
}

// closeFresh ends a run before it began: as a shim it takes the lock, and it
// writes an end, after which no shim starts it.
func closeFresh(dir string, grace time.Duration) error {
	lock, err := claim(dir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	stopped := StoppedTerm
	if grace <= 0 {
		stopped = StoppedKill
	}
	e := Exit{Version: ExitVersion, Code: -1, StartError: "stopped before it was started", Stopped: stopped, EndedAt: time.Now().UTC()}
	if err := writeJSON(dir, exitName, e); err != nil {
		return fmt.Errorf("stop run %s: %w", dir, err)
	}
	return nil
}
