package proc

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Vitals is what a run's process tree shows of itself at one moment. What the
// system does not tell is 0.
type Vitals struct {
	Processes int // that live, without the shim
	// CPU is the processor time of all that live and of all that ended and were
	// waited for, so that it never shrinks while the shim lives. 0 on macOS.
	CPU time.Duration
	// Connections counts TCP connections to other machines, those too that wait
	// for an answer to their first packet. 0 on macOS.
	Connections int
}

// CPUTime is Vitals.CPU alone. It costs as much as the tree is large, however
// many processes there are beside it.
func CPUTime(h Handle) (time.Duration, error) {
	if !h.ThisBoot() || !h.Shim().Alive() {
		return 0, nil
	}
	pids, err := pidsOf(h)
	return cpuOf(pids), err
}

// pidsOf finds the processes of a run, its shim too. Below a shim that lives it
// looks at nothing but them, where the system tells who is whose child.
func pidsOf(h Handle) ([]int, error) {
	if h.ThisBoot() && h.Shim().Alive() {
		if pids, ok := descendants(h.ShimPID); ok {
			return append(pids, h.ShimPID), nil
		}
	}
	ids, err := membersOf(h)
	pids := make([]int, len(ids))
	for i, id := range ids {
		pids[i] = id.PID
	}
	return pids, err
}

// LookAtTree looks at the process tree of a run from outside and changes
// nothing. Of another boot there is none.
func LookAtTree(h Handle) (Vitals, error) {
	ids, err := membersOf(h)
	if err != nil {
		return Vitals{}, err
	}
	v := Vitals{}
	if v.CPU, err = CPUTime(h); err != nil {
		return Vitals{}, err
	}
	ids = slices.DeleteFunc(ids, func(id Identity) bool { return id == h.Shim() })
	v.Processes = len(ids)
	for _, id := range ids {
		v.Connections += connections(id.PID, abroad)
	}
	return v, nil
}

// membersOf finds all processes of a run, its shim too: what the shim waited
// for counts there.
func membersOf(h Handle) ([]Identity, error) {
	if !h.ThisBoot() {
		return nil, nil
	}
	t := newTree(h.RunID, h)
	t.shim = true
	return t.look()
}

func cpuOf(pids []int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		sum += cpuTime(pid)
	}
	return sum
}

// wantOfMemory judges by the kernel's counter before and after a command
// whether it may have been killed for want of memory: see Exit.OOMKills. The
// counter is asked again only where it matters.
func wantOfMemory(e Exit, before int, counter func() int) int {
	if e.Signal != int(unix.SIGKILL) || e.Stopped != "" || before < 0 {
		return 0
	}
	return max(0, counter()-before)
}
