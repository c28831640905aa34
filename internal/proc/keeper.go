package proc

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepGrace is what is left to processes whose command is gone, between
	// SIGTERM and SIGKILL.
	sweepGrace = 2 * time.Second
	// killPause lies between two rounds of killing; it doubles up to
	// maxKillPause, since a process may hang in the kernel.
	killPause    = 5 * time.Millisecond
	maxKillPause = 320 * time.Millisecond
)

// phase is how far the end of a tree has come.
type phase int

const (
	running     phase = iota // the command runs, nobody wants it to end
	terminating              // SIGTERM was sent, grace runs
	killing                  // SIGKILL until nothing is left
)

// plan decides how a tree is ended. It acts on nothing.
type plan struct {
	phase    phase
	deadline time.Time // end of the grace, in phase terminating
	stopped  string    // StoppedTerm or StoppedKill when it was asked for
	rounds   int       // of killing so far
}

// term: a stop was asked for that leaves the tree some time. Asked again it
// can only become shorter.
func (p *plan) term(now time.Time, grace time.Duration) {
	if p.stopped == "" {
		p.stopped = StoppedTerm
	}
	p.shorten(now.Add(grace))
}

// kill: the tree is to end now, at once.
func (p *plan) kill() { p.phase = killing }

// stopNow: somebody asked for a kill.
func (p *plan) stopNow() {
	p.stopped = StoppedKill
	p.kill()
}

// commandGone: what the command left behind gets a short grace.
func (p *plan) commandGone(now time.Time) { p.shorten(now.Add(sweepGrace)) }

// tick: time went by.
func (p *plan) tick(now time.Time) {
	if p.phase == terminating && !now.Before(p.deadline) {
		p.phase = killing
	}
}

func (p *plan) shorten(deadline time.Time) {
	switch {
	case p.phase == running:
		p.phase, p.deadline = terminating, deadline
	case p.phase == terminating && deadline.Before(p.deadline):
		p.deadline = deadline
	}
}

// wait is how long nothing has to be done unless a signal comes; negative
// means for ever.
func (p *plan) wait(now time.Time) time.Duration {
	switch p.phase {
	case running:
		return -1
	case terminating:
		return max(0, p.deadline.Sub(now))
	default:
		return min(killPause<<min(p.rounds, 10), maxKillPause)
	}
}

// keeper watches over the tree of one command until nothing of it is left.
type keeper struct {
	shim *shim
	plan plan
	exit Exit
	// gone: the command itself has ended.
	gone bool
	// told: SIGTERM was sent to the tree.
	told bool
	// swept are the processes the command left behind.
	swept map[Identity]bool
	tree  *tree
}

func newKeeper(s *shim) *keeper {
	return &keeper{shim: s, swept: map[Identity]bool{}, tree: newTree(s.spec.RunID, s.handle)}
}

// keep blocks until the command and all it started are gone.
func (k *keeper) keep(sigs signals) Exit {
	for {
		if empty := k.reap(); empty {
			k.exit.Stopped, k.exit.Swept = k.plan.stopped, len(k.swept)
			return k.exit
		}
		k.plan.tick(time.Now())
		k.act()
		k.pause(sigs)
	}
}

// pause waits for a signal or for the plan's next moment.
func (k *keeper) pause(sigs signals) {
	var timeout <-chan time.Time
	if d := k.plan.wait(time.Now()); d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-sigs.child:
	case sig := <-sigs.stop:
		if sig == unix.SIGQUIT {
			k.plan.stopNow()
		} else {
			k.plan.term(time.Now(), k.shim.stopGrace())
		}
	case <-timeout:
	}
}

// reap collects every child that has ended and reports whether the tree is
// empty. For a subreaper "no child" means just that: what lives below has a
// parent, and each orphan becomes our child.
func (k *keeper) reap() (empty bool) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return k.shim.subreaper || len(k.members()) == 0
		case err != nil || pid == 0:
			return false
		case pid == k.shim.handle.PID && !k.gone:
			k.ended(status)
		}
	}
}

func (k *keeper) ended(status unix.WaitStatus) {
	k.gone = true
	k.exit.EndedAt = time.Now().UTC()
	k.exit.Code = status.ExitStatus()
	if status.Signaled() {
		k.exit.Signal = int(status.Signal())
		k.exit.Code = 128 + k.exit.Signal
	}
	k.shim.hit("shim/exited")
	k.plan.commandGone(k.exit.EndedAt)
}

// act does what the phase asks for.
func (k *keeper) act() {
	switch {
	case k.plan.phase == terminating && !k.told:
		k.told = true
		for _, id := range k.members() {
			_ = id.Signal(unix.SIGTERM)
		}
	case k.plan.phase == terminating && k.gone:
		k.members() // counts what was left behind only now
	case k.plan.phase == killing:
		k.killRound()
		k.plan.rounds++
	}
}

// killRound freezes the tree, so that it cannot grow faster than it is killed,
// and kills it.
func (k *keeper) killRound() {
	frozen, _ := freeze(func() ([]Identity, error) { return k.members(), nil })
	for _, id := range frozen {
		_ = id.Signal(unix.SIGKILL)
	}
}

// members are the live processes of the tree, the command included. What is
// seen after the command ended was left behind.
func (k *keeper) members() []Identity {
	var ids []Identity
	if table, err := listProcesses(); err == nil && k.shim.subreaper {
		ids = below(table, os.Getpid())
	} else if err == nil {
		ids = k.tree.members(table)
	}
	if k.gone {
		for _, id := range ids {
			k.swept[id] = true
		}
	}
	return ids
}

// stopRequest is the content of stop.json.
type stopRequest struct {
	Grace time.Duration `json:"graceNs"`
}

// stopGrace is the grace of the stop that was just asked for.
func (s *shim) stopGrace() time.Duration {
	var r stopRequest
	if err := readJSON(filepath.Join(s.dir, stopName), &r); err != nil || r.Grace < 0 {
		return s.spec.grace()
	}
	return r.Grace
}
