package orchestrator

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"cw/internal/cw"
)

const (
	// diskNeed is the least floor of a disk of usual size: below so much free
	// space a CLI truncates its own files (measured).
	diskNeed = 16 << 20
	// diskTick is the time between two looks of a run that waits for space.
	diskTick = 2 * time.Second
)

// DiskFloor says how much space must be free for a run to be started.
type DiskFloor struct {
	MinFree int64 // bytes
	Percent int   // of the disk's size
}

// DefaultDiskFloor is what holds where nobody said otherwise.
func DefaultDiskFloor() DiskFloor { return DiskFloor{MinFree: 1 << 30, Percent: 2} }

// DiskSpace is what a disk was like at one moment, in bytes.
type DiskSpace struct{ Size, Free, Floor int64 }

// Low tells whether no run may be started.
func (d DiskSpace) Low() bool { return d.Free < d.Floor }

// Floor is the floor of a disk of so many bytes: the smaller of both limits,
// so that neither a huge disk nor a small one is useless, but not less than
// 16 MiB, of which a disk below 64 MiB is asked a quarter of its size.
func (f DiskFloor) Floor(size int64) int64 {
	return max(min(f.MinFree, size/100*int64(f.Percent)), min(diskNeed, size/4))
}

// Look asks the disk of a folder.
func (f DiskFloor) Look(dir string) (DiskSpace, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return DiskSpace{}, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	size := int64(st.Blocks) * int64(st.Bsize)
	return DiskSpace{Size: size, Free: int64(st.Bavail) * int64(st.Bsize), Floor: f.Floor(size)}, nil
}

// enoughDisk refuses to start a run while the disk of the home is low.
func (o *Orchestrator) enoughDisk() error {
	dir := string(o.Home)
	space, err := o.Floor.Look(dir)
	if err != nil {
		return cw.Errorf(cw.CodeFailed, "the disk of %s cannot be looked at", dir).Because(err)
	}
	if space.Low() {
		return cw.Errorf(cw.CodeRefused, "the disk of %s is full (%d MiB free)", dir, space.Free>>20).
			WithHint("free some space: at least %d MiB are needed to start an agent; cw gc frees what cw keeps no longer", space.Floor>>20+1)
	}
	return nil
}

// awaitDisk lets an agent that is to go on while the disk is low wait until there
// is space, and says so once. over, looked at whenever the agent's bell rings,
// ends the wait as well. It fails only when ctx ends.
func (o *Orchestrator) awaitDisk(ctx context.Context, a cw.Agent, over func() bool) error {
	for told := false; ; told = true {
		ring := o.bell.Next(a.ID)
		err := o.enoughDisk()
		if err == nil || over() {
			return nil
		}
		if !told {
			o.Log.Warn("an agent waits for space on the disk to go on", "agent", a.Alias, "error", err)
			if err := o.warn(ctx, a, "it goes on when there is space on the disk; cw status tells how much is needed"); err != nil {
				o.Log.Warn("tell that an agent waits", "agent", a.Alias, "error", err)
			}
		}
		select {
		case <-ring:
		case <-time.After(diskTick):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
