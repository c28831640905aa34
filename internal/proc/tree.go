package proc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// killPatience bounds how long killed processes may take to be gone. One that
// hangs in the kernel longer than that is reported.
const killPatience = 15 * time.Second

// freezePasses bounds how often new members are looked for before a kill.
const freezePasses = 20

// tree finds the processes of a run from outside. A process belongs to it when
//
//   - it is the command, by pid and start time;
//   - it was started with CW_RUN=<run> and not before the shim;
//   - it is in the session of the command, while that is proved to be the same
//     one: by the command or by another member in it (the number of a session
//     is not used again while somebody is in it);
//   - one of its ancestors belongs to it, or is the shim.
//
// Once proved, it belongs to it for good, whatever becomes of its ancestors.
type tree struct {
	runID  string
	handle Handle
	// shim: the shim itself is a member too.
	shim   bool
	proved map[Identity]bool
	// tagged remembers what was found in environments, which are dear to read.
	tagged map[Identity]bool
}

func newTree(runID string, h Handle) *tree {
	return &tree{runID: runID, handle: h, proved: map[Identity]bool{}, tagged: map[Identity]bool{}}
}

// members picks the live processes of the run out of the process table. Never
// among them: this process and the first of the system.
func (t *tree) members(table []process) []Identity {
	self := os.Getpid()
	for grown := true; grown; {
		grown = false
		parents, session := t.standing(table)
		for _, p := range table {
			if t.proved[p.Identity] || p.Dead || p.PID == self || p.PID <= 1 {
				continue
			}
			if !t.shim && p.Identity == t.handle.Shim() {
				continue
			}
			if parents.of(p) || session && p.Session == t.handle.PID || t.root(p) {
				t.proved[p.Identity], grown = true, true
			}
		}
	}
	var ids []Identity
	for _, p := range table {
		if t.proved[p.Identity] && !p.Dead {
			ids = append(ids, p.Identity)
		}
	}
	return ids
}

// standing is what follows from the members known so far: the pids whose
// children are members, and whether the command's session is proved.
func (t *tree) standing(table []process) (parents births, session bool) {
	parents = births{}
	for _, p := range table {
		switch {
		case t.proved[p.Identity]:
			parents[p.PID] = p.StartTime
			session = session || t.handle.PID > 1 && p.Session == t.handle.PID
		case p.Identity == t.handle.Shim() && !p.Dead:
			parents[p.PID] = p.StartTime
		}
	}
	return parents, session
}

// births are the start times of processes by their pids.
type births map[int]uint64

// of reports whether the parent of p is among them. A parent is older than its
// children: a younger one has taken over the pid.
func (b births) of(p process) bool {
	start, ok := b[p.Parent]
	return ok && start <= p.StartTime
}

// root reports whether a process is a member by itself.
func (t *tree) root(p process) bool {
	if p.Identity == t.handle.Command() || t.shim && p.Identity == t.handle.Shim() {
		return true
	}
	if t.runID == "" || p.StartTime < t.handle.ShimStart {
		return false
	}
	tagged, known := t.tagged[p.Identity]
	if !known {
		tagged = startedWithVariable(p.PID, RunVariable, t.runID)
		t.tagged[p.Identity] = tagged
	}
	return tagged
}

// below are the live descendants of a process.
func below(table []process, root int) []Identity {
	byParent := map[int][]process{}
	for _, p := range table {
		byParent[p.Parent] = append(byParent[p.Parent], p)
	}
	var ids []Identity
	queue := []int{root}
	for len(queue) > 0 {
		next := byParent[queue[0]]
		queue = queue[1:]
		for _, p := range next {
			queue = append(queue, p.PID)
			if !p.Dead {
				ids = append(ids, p.Identity)
			}
		}
	}
	return ids
}

// KillTree ends whatever is left of a run whose shim is lost, the shim too
// should it live, and returns how many processes it killed once none is left.
// It kills nothing of another boot. On Linux a process escapes that lost its
// ancestors, left the session and shed CW_RUN before KillTree could look.
func KillTree(ctx context.Context, runID string, h Handle) (killed int, err error) {
	t := newTree(runID, h)
	t.shim = true
	return t.kill(ctx)
}

// KillUnseen is KillTree for a run whose directory is gone: nothing but its id
// tells which processes are its own. It counts on this boot alone.
func KillUnseen(ctx context.Context, runID string) (killed int, err error) {
	boot, err := BootID()
	if err != nil {
		return 0, fmt.Errorf("read the boot id: %w", err)
	}
	return KillTree(ctx, runID, Handle{BootID: boot})
}

// kill freezes and kills the members until there are none.
func (t *tree) kill(ctx context.Context) (killed int, err error) {
	if !t.handle.ThisBoot() {
		return 0, nil
	}
	hit := map[Identity]bool{}
	until := time.Now().Add(killPatience)
	for {
		left, err := freeze(t.look)
		if err != nil || len(left) == 0 {
			return len(hit), err
		}
		for _, id := range left {
			err := id.Signal(unix.SIGKILL)
			if err == nil {
				hit[id] = true
			} else if !errors.Is(err, os.ErrProcessDone) {
				return len(hit), fmt.Errorf("kill process %d of run %s: %w", id.PID, t.runID, err)
			}
		}
		if time.Now().After(until) {
			return len(hit), fmt.Errorf("kill run %s: %d processes do not end: %v", t.runID, len(left), left)
		}
		if err := sleep(ctx, killPause); err != nil {
			return len(hit), err
		}
	}
}

// look finds the members in the process table as it is now.
func (t *tree) look() ([]Identity, error) {
	table, err := listProcesses()
	if err != nil {
		return nil, err
	}
	return t.members(table), nil
}

// freeze stops the processes that look finds until it finds no new one, and
// returns all it found. Stopped, they can neither fork nor lose the ancestors
// by which they are known.
func freeze(look func() ([]Identity, error)) ([]Identity, error) {
	frozen := map[Identity]bool{}
	for range freezePasses {
		members, err := look()
		if err != nil {
			return nil, err
		}
		before := len(frozen)
		for _, id := range members {
			if !frozen[id] {
				frozen[id] = true
				_ = id.Signal(unix.SIGSTOP)
			}
		}
		if len(frozen) == before {
			break
		}
	}
	return slices.Collect(maps.Keys(frozen)), nil
}
