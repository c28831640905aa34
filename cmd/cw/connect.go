package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"cw/internal/api"
	"cw/internal/board/live"
	"cw/internal/cw"
	"cw/internal/daemon"
	"cw/internal/proc"
)

// wire connects the commands with the rest of the program.
func (a *app) wire() {
	c := newConnector(a.env, a.note)
	a.farEnds = farEnds{
		home:    c.home,
		inside:  c.insideRun,
		connect: c.connect,
		reach:   c.reach,
		stay:    c.stay,
		serve:   a.serveHome,
		examine: func(ctx context.Context, home cw.Home) []daemon.Check { return daemon.Doctor(ctx, home, a.env.list()) },
		rebuild: daemon.Recover,
		service: a.serviceOptions,
		end:     endDaemon,
		holder:  lockOwner,
		gone:    processGone,
		child: func(command, env []string) error { // its words are for a person: stdout is for the result
			return proc.InTerminal(command, env, proc.Terminal{In: os.Stdin, Out: os.Stderr, Err: os.Stderr})
		},
		within: func(dir string, command, env []string) error {
			return proc.InTerminal(command, env, proc.Terminal{Dir: dir, In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		},
		browser: func() ([]string, bool) { return browserOf(a.env, runtime.GOOS, inPath) },
		browse:  func(argv []string) error { return startBrowser(argv, a.env.list()) },
		board:   live.Run,
		log:     proc.FollowFile,
	}
}

// newConnector makes a connector that works on this machine.
func newConnector(env environ, note func(string, ...any)) *connector {
	return &connector{
		env:     env,
		home:    func() (cw.Home, error) { return daemon.DefaultHome(func(name string) string { return env[name] }) },
		below:   belowShim,
		prepare: daemon.PrepareHome,
		launch: func(home cw.Home, report string) (int, func() bool, error) {
			return launchDaemon(env, home, report)
		},
		holder: lockHolder,
		dial: func(socket, token string) cw.Services {
			return api.NewClient(api.ClientOptions{
				Socket: socket, Token: token,
				OnVersionSkew: func(text string) { note("warning: %s", text) },
			})
		},
	}
}

// belowShim tells whether a shim of this home is among the ancestors of this
// process. Where that cannot be told for certain the answer is yes: a daemon
// that is not started costs less than one that ends with an agent.
func belowShim(home cw.Home) bool {
	_, below, err := proc.Identify(os.Getpid(), home.Runs())
	return below || errors.Is(err, proc.ErrVanished)
}

// launchDaemon starts `cw serve` detached. `go run` may have deleted the file
// that this process was started from, so the system's own link serves then.
func launchDaemon(env environ, home cw.Home, report string) (pid int, alive func() bool, err error) {
	binary, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		binary = "/proc/self/exe"
	}
	own := env.without("CW_")
	own["CW_HOME"] = string(home)
	delete(own, "GOTRACEBACK") // its memory holds secrets: no core files
	for name, value := range env {
		if strings.HasPrefix(name, daemon.VariablePrefix) || name == daemon.VaultVariable {
			own[name] = value
		}
	}
	pid, err = proc.Daemonize(proc.Detached{
		Binary: binary,
		Args:   []string{"serve", "--report", report},
		Env:    own.list(),
		Dir:    string(home),
		Log:    home.DaemonLog(),
	})
	if err != nil {
		return 0, nil, err
	}
	id, err := proc.IdentityOf(pid)
	if err != nil { // ended already; its report tells why
		return pid, func() bool { return false }, nil
	}
	return pid, id.Alive, nil
}

// lockHolder is the pid in the daemon's lock file while that process lives.
// The lock itself is not tried: a daemon that is just starting would find it
// taken.
func lockHolder(home cw.Home) int {
	b, err := os.ReadFile(home.DaemonLock())
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	if id, err := proc.IdentityOf(pid); err != nil || !id.Alive() {
		return 0
	}
	return pid
}

// lockOwner is the pid of the live process that has the daemon's lock, 0 when
// nobody has it. Unlike lockHolder it does not believe the file alone: the pid
// of a daemon that was killed may be another process by now.
func lockOwner(home cw.Home) int {
	pid := lockHolder(home)
	if pid == 0 {
		return 0
	}
	lock, err := proc.Lock(home.DaemonLock())
	if err == nil {
		_ = lock.Unlock() // only its file is closed
		return 0
	}
	var held *proc.HeldError
	if !errors.As(err, &held) {
		return 0
	}
	return pid
}

// endDaemon asks the process that holds the daemon's lock to end, for a daemon
// that cannot be asked over its socket. It gives its pid, 0 when there is none.
func endDaemon(home cw.Home) (pid int, err error) {
	lock, err := proc.Lock(home.DaemonLock())
	if err == nil {
		return 0, lock.Unlock()
	}
	var held *proc.HeldError
	switch {
	case errors.Is(err, fs.ErrNotExist): // no daemon was ever here
		return 0, nil
	case !errors.As(err, &held):
		return 0, err
	}
	if held.PID == 0 { // its disk was full when it started
		return 0, cw.Errorf(cw.CodeUnreachable, "a daemon holds %s, cannot be reached, and did not write down its pid", home).
			WithHint("end the process that `fuser %s` shows; agents run on", home.DaemonLock())
	}
	id, err := proc.IdentityOf(held.PID)
	if err != nil {
		return 0, nil // it ended meanwhile
	}
	return held.PID, id.Signal(syscall.SIGTERM)
}

// processGone waits until a process has ended.
func processGone(ctx context.Context, pid int) error {
	id, err := proc.IdentityOf(pid)
	if err != nil {
		return nil // it is gone
	}
	for id.Alive() {
		if err := pause(ctx, startPoll); err != nil {
			return err
		}
	}
	return nil
}
