package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"cw/internal/safefile"
)

const (
	// HandleVersion is the version of the Handle this program writes.
	HandleVersion = 1
	// ExitVersion is the version of exit.json this program writes.
	ExitVersion = 1
	// strangerPatience is how long the lock of a run whose shim is gone may be
	// held: one that wants to start the run again takes it for a moment.
	strangerPatience = 500 * time.Millisecond
)

// errDamaged says that a file is not a record: no plain file, or no JSON.
var errDamaged = errors.New("damaged")

// State is where a run stands, as its directory tells.
type State string

// The states of a run.
const (
	// StateFresh: nothing was started, it may be started.
	StateFresh State = "fresh"
	// StateStarting: a shim holds the run, the command does not run yet.
	StateStarting State = "starting"
	// StateRunning: a shim holds the run, the command was started.
	StateRunning State = "running"
	// StateExited: it is over, and Exit says how.
	StateExited State = "exited"
	// StateLost: the shim died before it could tell the end. The command may
	// live on. Such a run is never started again.
	StateLost State = "lost"
)

// Live reports whether a shim holds the run.
func (s State) Live() bool { return s == StateStarting || s == StateRunning }

// Handle names a started run for ever, in JSON, also for a later program. The
// zero Handle names nothing.
type Handle struct {
	Version int `json:"version"`
	// BootID is the boot of the machine the pids belong to.
	BootID string `json:"bootId"`
	// RunID is that of the Spec: by it processes that lost their ancestors are
	// found. Empty means that these cannot be found.
	RunID string `json:"runId,omitempty"`
	// ShimPID and ShimStart name the shim, PID and StartTime the command; PID
	// is 0 while it is not started. Start times are in the system's own unit
	// since its own epoch (Linux: clock ticks since boot; macOS: microseconds
	// since 1970) and only to be compared.
	ShimPID   int    `json:"shimPid"`
	ShimStart uint64 `json:"shimStart"`
	PID       int    `json:"pid,omitempty"`
	StartTime uint64 `json:"startTime,omitempty"`
	// StartedAt is the wall clock when the command was started.
	StartedAt time.Time `json:"startedAt"`
}

// Shim is the identity of the shim.
func (h Handle) Shim() Identity { return Identity{PID: h.ShimPID, StartTime: h.ShimStart} }

// Command is the identity of the command.
func (h Handle) Command() Identity { return Identity{PID: h.PID, StartTime: h.StartTime} }

// ThisBoot reports whether the machine was not rebooted since: only then do
// the pids mean anything.
func (h Handle) ThisBoot() bool {
	boot, err := BootID()
	return err == nil && h.BootID == boot
}

// Exit is how a run ended; it is stored as exit.json.
type Exit struct {
	Version int `json:"version"`
	// Code is the exit code; 128 + Signal when a signal ended the command, 127
	// when it could not be started, -1 when it was stopped before the start.
	Code int `json:"code"`
	// Signal is the number of the signal that ended the command, 0 for none.
	Signal int `json:"signal,omitempty"`
	// StartError says why the command was never started.
	StartError string `json:"startError,omitempty"`
	// Stopped is "term" or "kill" when a stop was asked for before the end.
	Stopped string `json:"stopped,omitempty"`
	// EndedAt is the wall clock when the command itself was gone.
	EndedAt time.Time `json:"endedAt"`
	// Swept counts the processes that the command left behind and that had to
	// be ended.
	Swept int `json:"swept,omitempty"`
	// OOMKills counts the processes that the kernel killed for want of memory
	// while the command ran: in the run's control group, or where that is not
	// told on the whole machine. Only told of a command that a SIGKILL ended
	// which nobody asked for; then it is evidence, and no proof.
	OOMKills int `json:"oomKills,omitempty"`
}

// Values of Exit.Stopped.
const (
	StoppedTerm = "term"
	StoppedKill = "kill"
)

// String is the end in words, as a shell would say it.
func (e Exit) String() string {
	switch {
	case e.StartError != "":
		return e.StartError
	case e.Signal != 0:
		return "killed by " + unix.SignalName(unix.Signal(e.Signal))
	default:
		return fmt.Sprintf("exit code %d", e.Code)
	}
}

// Observation is what was seen of a run at one moment.
type Observation struct {
	State State
	// Handle is zero while no shim has put down its name.
	Handle Handle
	// Exit is set when State is StateExited.
	Exit *Exit
	// RecordedAt is when Exit was put down: by then the whole process tree was
	// dead. Zero without Exit.
	RecordedAt time.Time
}

// started is the content of started.json.
type started struct {
	State  State  `json:"state"` // starting or running
	Handle Handle `json:"handle"`
}

// Observe looks at a run directory and changes nothing. The error is
// fs.ErrNotExist when there is no such directory.
//
// The lock comes first: while a shim holds it the run goes on, whatever else
// lies in the directory, since the command can write there. Once it is free,
// a record that is there and cannot be read counts as lost. The shared lock is
// kept while the files are read: with it no shim can be at work, so that one
// which starts or ends between two looks is never taken for lost.
func Observe(dir string) (Observation, error) {
	free, unlock, err := tryShared(filepath.Join(dir, lockName))
	if err != nil {
		return Observation{}, fmt.Errorf("observe run: %w", err)
	}
	defer unlock()
	st, known, err := readStarted(dir)
	if err != nil {
		return Observation{}, fmt.Errorf("observe run: %w", err)
	}
	obs := Observation{State: judge(!free, known, st), Handle: st.Handle}
	if !free {
		return obs, nil
	}
	var e Exit
	err = readJSON(filepath.Join(dir, exitName), &e)
	switch {
	case err == nil:
		obs.State, obs.Exit = StateExited, &e
		if info, err := os.Lstat(filepath.Join(dir, exitName)); err == nil {
			obs.RecordedAt = info.ModTime()
		}
	case errors.Is(err, fs.ErrNotExist):
	case spoiled(err):
		obs.State = StateLost
	default:
		return Observation{}, fmt.Errorf("observe run: %w", err)
	}
	return obs, nil
}

// ObserveKnown is Observe for a caller that kept the Handle of the run. A
// Handle that is not zero is believed over everything in the directory, and is
// the one in the Observation: while its shim lives, the run is running. Once
// the shim is gone the run is exited or lost, never live or fresh, and lost
// too when the directory is missing, cannot be read, or somebody else holds
// its lock. A zero Handle makes it Observe.
//
// An error means that it is not known.
func ObserveKnown(dir string, h Handle) (Observation, error) {
	if h.ShimPID <= 0 {
		return Observe(dir)
	}
	lives, err := h.shimLives()
	if err != nil {
		return Observation{Handle: h}, fmt.Errorf("observe run: %w", err)
	}
	if lives {
		return Observation{State: StateRunning, Handle: h}, nil
	}
	obs, err := Observe(dir)
	for until := time.Now().Add(strangerPatience); err == nil && obs.State.Live() && time.Now().Before(until); {
		time.Sleep(claimPoll)
		obs, err = Observe(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !spoiled(err) {
		return Observation{Handle: h}, err
	}
	if obs.State != StateExited {
		obs = Observation{State: StateLost}
	}
	obs.Handle = h
	return obs, nil
}

// shimLives reports whether the shim is there, by boot, pid and start time. An
// error means that the system did not tell.
func (h Handle) shimLives() (bool, error) {
	boot, err := BootID()
	if err != nil {
		return false, fmt.Errorf("read boot id: %w", err)
	}
	if h.BootID != boot {
		return false, nil
	}
	p, err := readProcess(h.ShimPID)
	if errors.Is(err, os.ErrProcessDone) {
		return false, nil
	}
	return err == nil && p.Identity == h.Shim() && !p.Dead, err
}

// judge says where a run stands by its lock and started.json.
func judge(held, known bool, st started) State {
	switch {
	case !held && !known:
		return StateFresh
	case !held:
		return StateLost
	case st.State == StateRunning:
		return StateRunning
	default:
		return StateStarting
	}
}

// readStarted reads started.json. One that cannot be read (a power cut may
// leave it empty) counts as known without a handle: that a start was tried is
// what must never be forgotten.
func readStarted(dir string) (st started, known bool, err error) {
	err = readJSON(filepath.Join(dir, startedName), &st)
	switch {
	case err == nil:
		return st, true, nil
	case errors.Is(err, fs.ErrNotExist):
		return started{}, false, nil
	case spoiled(err):
		return started{}, true, nil
	default:
		return started{}, false, err
	}
}

// spoiled reports whether an error says that something else than a readable
// record lies in its place, and will tomorrow: trying again is no use. Errors
// of the disk, or of too many open files, are not among them.
func spoiled(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENOTDIR)
}

// openRegular opens a file for reading and refuses everything that is not a
// plain file: opening a pipe would block, a link could lead anywhere.
func openRegular(path string) (*os.File, error) {
	f, err := safefile.Open(path)
	if errors.Is(err, safefile.ErrIrregular) {
		return nil, errors.Join(err, errDamaged)
	}
	return f, err
}
