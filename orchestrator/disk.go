package orchestrator

import (
	"syscall"

	"cw/internal/cw"
)

// diskNeed is the free space below which no run is started: a CLI on a full
// disk truncates its own files (measured).
const diskNeed = 16 << 20

// enoughDisk refuses when the disk of dir is full.
func enoughDisk(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return cw.Errorf(cw.CodeFailed, "the disk of %s cannot be looked at", dir).Because(err)
	}
	if free := uint64(st.Bavail) * uint64(st.Bsize); free < diskNeed {
		return cw.Errorf(cw.CodeRefused, "the disk of %s is full (%d KiB free)", dir, free>>10).
			WithHint("free some space; at least %d MiB are needed to start an agent", diskNeed>>20)
	}
	return nil
}
