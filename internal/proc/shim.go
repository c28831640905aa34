package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// claimPatience is how long a shim tries to get the lock of a run whose
	// holder has not begun: it may be somebody who only looks.
	claimPatience = 5 * time.Second
	// claimPoll is the pause between two tries.
	claimPoll = 2 * time.Millisecond
	// settleAfter is when a shim gives back the memory that its start took.
	settleAfter = time.Second
	// startErrorCode is the exit code of a command that cannot be started, as
	// shells have it.
	startErrorCode = 127
	// maxStartError bounds the text of a start error, so that it fits into the
	// space set aside.
	maxStartError = 1024
)

// errNotMine says that the run is another shim's, or was.
var errNotMine = errors.New("this run was started before")

// shim is one run in the hands of its shim.
type shim struct {
	dir  string
	hit  func(step string)
	spec Spec
	lock *FileLock
	// handle grows as the run does.
	handle Handle
	// startedFile and exitFile are the space set aside for the two records
	// that must be written after the command was started.
	startedFile, exitFile *record
	subreaper             bool
}

// RunShim is the whole life of a shim: the body of `cw shim DIR`. It returns
// the exit code of the shim process, which says nothing about the command.
//
// fail is called with the name of each step once it is done, for tests that
// end the shim there; nil for none. The steps are shim/locked, shim/starting,
// shim/spawned, shim/started, shim/exited, shim/swept and shim/recorded.
func RunShim(dir string, fail func(step string)) int {
	if fail == nil {
		fail = func(string) {}
	}
	// Before anything by which others could find this process.
	sigs := listen()
	discreet()
	s := &shim{dir: dir, hit: fail}
	err := s.run(sigs)
	if err == nil || errors.Is(err, errNotMine) {
		return 0
	}
	fmt.Fprintln(os.Stdout, err) // to the starter, if it still listens
	fmt.Fprintln(os.Stderr, time.Now().UTC().Format(time.RFC3339), err)
	return 1
}

// signals are those that mean something to a shim.
type signals struct {
	child chan os.Signal // a child changed its state
	stop  chan os.Signal // SIGTERM: gracefully, SIGQUIT: now
}

// listen takes the signals over. SIGHUP and SIGINT are caught and dropped, not
// ignored: an ignored signal would stay ignored in the command.
func listen() signals {
	s := signals{child: make(chan os.Signal, 1), stop: make(chan os.Signal, 4)}
	signal.Notify(s.child, unix.SIGCHLD)
	signal.Notify(s.stop, unix.SIGTERM, unix.SIGQUIT)
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT)
	return s
}

// discreet closes what this process could give away.
func discreet() {
	closeOnExec()
	hideEnvironment()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// settle makes the process small once the run turns out to last. Not at the
// start: each of these stops the program for a moment.
func settle() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
}

func (s *shim) run(sigs signals) error {
	if err := s.claim(); err != nil {
		return err
	}
	defer s.lock.Unlock()
	s.hit("shim/locked")
	if err := s.announce(); err != nil {
		return err
	}
	s.hit("shim/starting")
	killed := oomKills()
	exit, err := s.spawn()
	if err != nil {
		return s.record(exit)
	}
	s.hit("shim/spawned")
	keeper := newKeeper(s)
	// Not synced: after a power cut the processes it names are gone too.
	if err := s.startedFile.put(started{State: StateRunning, Handle: s.handle}); err != nil {
		// A command that nobody could find again must not run on.
		err = fmt.Errorf("write %s: %w", startedName, err)
		keeper.plan.kill()
		exit = keeper.keep(sigs)
		exit.StartError, exit.Code = err.Error(), startErrorCode
		return s.record(exit)
	}
	s.hit("shim/started")
	releaseStarter()
	defer time.AfterFunc(settleAfter, settle).Stop()
	exit = keeper.keep(sigs)
	exit.OOMKills = wantOfMemory(exit, killed, oomKills)
	s.hit("shim/swept")
	return s.record(exit)
}

// claim takes the lock of the run and makes sure that it was never started.
func (s *shim) claim() (err error) {
	if s.spec, err = ReadSpec(s.dir); err != nil {
		return err
	}
	s.lock, err = claim(s.dir)
	return err
}

// claim locks a run that was never started. errNotMine means that it was, or
// that another shim is about to start it. A lock that is held without a trace
// of a start is tried again: most likely somebody only looks.
func claim(dir string) (*FileLock, error) {
	until := time.Now().Add(claimPatience)
	for {
		lock, held, err := tryLock(filepath.Join(dir, lockName))
		if err != nil {
			return nil, err
		}
		if err := untouched(dir); err != nil {
			if lock != nil {
				_ = lock.Unlock()
			} else {
				held.Close()
			}
			return nil, err
		}
		if lock != nil {
			return lock, nil
		}
		held.Close()
		if time.Now().After(until) {
			return nil, errNotMine
		}
		time.Sleep(claimPoll)
	}
}

// untouched makes sure that no start was ever tried.
func untouched(dir string) error {
	for _, name := range []string{exitName, startedName} {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil {
			return errNotMine
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// announce sets aside the space for what must be written later, and then puts
// down that a start is tried. From there on the run is never started again.
func (s *shim) announce() (err error) {
	self, err := Self()
	if err != nil {
		return err
	}
	boot, err := BootID()
	if err != nil {
		return fmt.Errorf("read boot id: %w", err)
	}
	s.handle = Handle{Version: HandleVersion, BootID: boot, RunID: s.spec.RunID, ShimPID: self.PID, ShimStart: self.StartTime}
	if s.exitFile, err = reserveRecord(s.dir, exitName); err != nil {
		return err
	}
	if s.startedFile, err = reserveRecord(s.dir, startedName); err != nil {
		s.exitFile.drop()
		return err
	}
	s.subreaper = becomeSubreaper()
	if err = s.putDown(); err != nil {
		s.exitFile.drop()
		s.startedFile.drop()
	}
	return err
}

// putDown makes sure that the start is known, and the space for its end taken,
// before anything runs.
func (s *shim) putDown() error {
	// Both at once: the file system commits them together.
	synced := make(chan error, 1)
	go func() { synced <- s.exitFile.f.Sync() }()
	err := createJSON(s.dir, startedName, started{State: StateStarting, Handle: s.handle})
	syncErr := <-synced
	if err != nil {
		return fmt.Errorf("put down the start: %w", err)
	}
	if syncErr != nil {
		_ = os.Remove(filepath.Join(s.dir, startedName)) // nothing was started
		return fmt.Errorf("set aside space: %w", syncErr)
	}
	return nil
}

// spawn starts the command. On an error the exit tells it and nothing runs.
func (s *shim) spawn() (Exit, error) {
	pid, err := s.forkCommand()
	s.handle.StartedAt = time.Now().UTC()
	if err != nil {
		text := err.Error()
		if len(text) > maxStartError {
			text = text[:maxStartError]
		}
		s.startedFile.drop()
		return Exit{Code: startErrorCode, StartError: text, EndedAt: s.handle.StartedAt}, err
	}
	s.handle.PID = pid
	// The child is not reaped, so its row is there even when it has ended.
	if p, err := readProcess(pid); err == nil {
		s.handle.StartTime = p.StartTime
	}
	return Exit{}, nil
}

func (s *shim) forkCommand() (pid int, err error) {
	env := withVariable(os.Environ(), RunVariable, s.spec.RunID)
	path := s.spec.Argv[0]
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(s.spec.Dir, path)
	}
	path, err = LookPath(path, variable(env, "PATH"))
	if err != nil {
		return 0, err
	}
	if info, err := os.Stat(s.spec.Dir); err != nil {
		return 0, fmt.Errorf("working directory: %w", err)
	} else if !info.IsDir() {
		return 0, fmt.Errorf("working directory: %s is not a directory", s.spec.Dir)
	}
	var files [3]*os.File
	defer func() {
		for _, f := range files {
			f.Close() // a nil file answers with an error
		}
	}()
	if files[0], err = os.Open(s.path(s.spec.Stdin)); err != nil {
		return 0, fmt.Errorf("stdin: %w", err)
	}
	if s.spec.StdinPipe {
		if files[0], err = piped(files[0]); err != nil {
			return 0, fmt.Errorf("stdin: %w", err)
		}
	}
	if files[1], err = s.openOutput(s.spec.Stdout); err != nil {
		return 0, fmt.Errorf("stdout: %w", err)
	}
	if files[2], err = s.openOutput(s.spec.Stderr); err != nil {
		return 0, fmt.Errorf("stderr: %w", err)
	}
	pid, err = forkExec(path, s.spec.Argv, &syscall.ProcAttr{
		Dir:   s.spec.Dir,
		Env:   env,
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", path, err)
	}
	return pid, nil
}

// openOutput opens a file that the command appends to. Only the null device is
// opened as what it is: any other name has to be of a regular file.
func (s *shim) openOutput(name string) (*os.File, error) {
	if name == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	return openAppend(s.path(name))
}

// piped gives the end of a pipe from which the file is read. The copying ends
// with the file, or when nobody reads any more.
func piped(file *os.File) (*os.File, error) {
	reads, writes, err := os.Pipe()
	if err != nil {
		file.Close()
		return nil, err
	}
	go func() {
		defer file.Close()
		defer writes.Close()
		_, _ = io.Copy(writes, file) // the reader is free to leave
	}()
	return reads, nil
}

// path is the real path of a file that the Spec names.
func (s *shim) path(name string) string {
	switch {
	case name == "":
		return os.DevNull
	case filepath.IsAbs(name):
		return name
	default:
		return filepath.Join(s.dir, name)
	}
}

// record writes how the run ended. It is not synced either: a power cut that
// takes it takes what the command wrote last as well, and the run is lost.
func (s *shim) record(e Exit) error {
	e.Version = ExitVersion
	if err := s.exitFile.put(e); err != nil {
		return fmt.Errorf("write %s: %w", exitName, err)
	}
	s.hit("shim/recorded")
	return nil
}

// releaseStarter gives up the pipe on which the starter waits; from there on
// stdout goes where stderr goes.
func releaseStarter() {
	_ = unix.Close(1)
	_, _ = unix.FcntlInt(2, unix.F_DUPFD, 1) // the lowest free one: 1
}
