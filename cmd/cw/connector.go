package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cw/internal/cw"
	"cw/internal/proc"
)

// Limits of finding the daemon.
const (
	probeMax   = 5 * time.Second        // one question to a daemon that may hang
	settleMax  = 2 * time.Second        // for a daemon that is just ending
	startMax   = 15 * time.Second       // from its start until it answers
	heldMin    = time.Minute            // a daemon that holds its home so long has started
	startPoll  = 20 * time.Millisecond  // between two looks meanwhile
	insideMax  = 30 * time.Second       // how long a run waits for a daemon that restarts
	insidePoll = 100 * time.Millisecond // between two looks meanwhile
	logTail    = 20                     // lines of daemon.log shown when it did not come up
)

// connector finds the daemon of one CW_HOME, and starts it where that is
// allowed. What it does to the machine are its function fields.
type connector struct {
	env environ
	// home is where everything of cw is kept.
	home func() (cw.Home, error)
	// below tells whether a shim of the home is among the ancestors of this
	// process.
	below func(cw.Home) bool
	// dial makes a client; nothing is connected before it is used.
	dial func(socket, token string) cw.Services
	// prepare makes the home, or says why it cannot be used.
	prepare func(cw.Home) error
	// launch starts a detached daemon that leaves word in the file report when
	// it cannot serve. alive tells whether its process is there.
	launch func(home cw.Home, report string) (pid int, alive func() bool, err error)
	// holder is the pid of the process that made itself the daemon last, 0
	// when it is gone.
	holder func(cw.Home) int
}

// insideRun tells whether this process belongs to an agent.
func (c *connector) insideRun(home cw.Home) bool {
	return c.env[proc.RunVariable] != "" || c.below(home)
}

// reach gives the daemon when it answers. CodeUnreachable.
func (c *connector) reach(ctx context.Context) (cw.Services, error) {
	home, err := c.home()
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, home)
}

// connect gives the daemon, and starts it when none runs. Inside a run it
// never does: what an agent starts would end with the agent.
func (c *connector) connect(ctx context.Context) (cw.Services, error) {
	home, err := c.home()
	if err != nil {
		return nil, err
	}
	if c.insideRun(home) {
		return c.await(ctx, home, insideMax)
	}
	deadline := time.Now().Add(settleMax)
	for {
		svc, err := c.ask(ctx, home)
		switch {
		case cw.ErrorCode(err) != cw.CodeUnreachable:
			return svc, err
		case !saidItself(err):
			return c.start(ctx, home)
		case time.Now().After(deadline):
			return nil, err
		}
		if err := pause(ctx, startPoll); err != nil {
			return nil, err
		}
	}
}

// stay is connect for commands that wait anyhow: inside of a run a daemon that is
// away is waited for until ctx ends.
func (c *connector) stay(ctx context.Context) (cw.Services, error) {
	home, err := c.home()
	if err != nil {
		return nil, err
	}
	if !c.insideRun(home) {
		return c.connect(ctx)
	}
	return c.await(ctx, home, 0)
}

// socket is where the daemon listens: what it wrote down, else the usual place.
func (c *connector) socket(home cw.Home) string {
	if s := c.env["CW_SOCKET"]; s != "" && c.insideRun(home) {
		return s
	}
	if b, err := os.ReadFile(home.SocketFile()); err == nil {
		if s := strings.TrimSpace(string(b)); filepath.IsAbs(s) {
			return s
		}
	}
	return home.Socket()
}

// ask finds out whether a daemon answers, by a question that agents may ask too.
func (c *connector) ask(ctx context.Context, home cw.Home) (cw.Services, error) {
	svc := c.dial(c.socket(home), c.env["CW_TOKEN"])
	short, cancel := context.WithTimeout(ctx, probeMax)
	defer cancel()
	_, err := svc.Whoami(short)
	switch {
	case err == nil:
		return svc, nil
	case cw.ErrorCode(err) == cw.CodeForbidden && c.env["CW_TOKEN"] != "" && c.env[proc.RunVariable] == "":
		return nil, leftToken(err)
	case ctx.Err() == nil && short.Err() != nil:
		return nil, cw.Errorf(cw.CodeUnreachable, "the daemon does not answer within %s", probeMax).
			WithHint("cw logs shows what it does; cw restart replaces it, agents run on")
	}
	return nil, err
}

// leftToken is a refusal of somebody whose shell still has an agent's token.
func leftToken(err error) error {
	var e *cw.Error
	if !errors.As(err, &e) {
		return err
	}
	return e.WithHint("CW_TOKEN is set here, and only agents have one: unset CW_TOKEN")
}

// notReached is the error about a daemon that runs and does not answer.
func notReached(home cw.Home, pid int) *cw.Error {
	return cw.Errorf(cw.CodeUnreachable, "a daemon with pid %d holds %s, but cannot be reached", pid, home).
		WithHint("cw restart replaces it; agents run on")
}

// saidItself tells whether there is a daemon which cannot be used: another
// version, one that is just ending, one that hangs. A connection that does not
// come about, or breaks, has a cause.
func saidItself(err error) bool {
	var e *cw.Error
	return errors.As(err, &e) && e.Code == cw.CodeUnreachable && e.Err == nil
}

// absent tells whether no daemon is there at all.
func absent(err error) bool {
	return cw.ErrorCode(err) == cw.CodeUnreachable &&
		(errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED))
}

// await waits for a daemon that somebody else starts: for so long, 0 for as long
// as ctx lasts. A wait that ends by the time of ctx is CodeUnreachable, too.
func (c *connector) await(ctx context.Context, home cw.Home, most time.Duration) (cw.Services, error) {
	began := time.Now()
	for {
		svc, err := c.ask(ctx, home)
		away := cw.ErrorCode(err) == cw.CodeUnreachable
		if err != nil && !away && !errors.Is(ctx.Err(), context.DeadlineExceeded) || err == nil {
			return svc, err
		}
		over := most > 0 && time.Since(began) > most
		if !over && pause(ctx, insidePoll) != nil {
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, ctx.Err()
			}
			over = true
		}
		if over {
			return nil, cw.Errorf(cw.CodeUnreachable, "no daemon answers since %s", time.Since(began).Round(time.Second)).
				WithHint("an agent cannot start the daemon; a person does, with any cw command outside of the run").Because(err)
		}
	}
}

// start starts a daemon and waits until one answers. When others do the same,
// one daemon wins and serves all of them.
func (c *connector) start(ctx context.Context, home cw.Home) (cw.Services, error) {
	if err := c.prepare(home); err != nil {
		return nil, err
	}
	report, err := newStartReport(home)
	if err != nil {
		return nil, err
	}
	defer os.Remove(report)
	pid, alive, err := c.launch(home, report)
	if err != nil {
		return nil, cw.Errorf(cw.CodeUnreachable, "the daemon cannot be started").Because(err)
	}
	deadline, settled := time.Now().Add(startMax), time.Now().Add(settleMax)
	for {
		running := alive() // before the looks, so that they see all it did
		svc, err := c.ask(ctx, home)
		if cw.ErrorCode(err) != cw.CodeUnreachable {
			return svc, err
		}
		said := readStartReport(report)
		other := c.holder(home)
		switch {
		case said != nil && said.Code == cw.CodeInterrupted:
			return nil, cw.Errorf(cw.CodeUnreachable, "the daemon was ended while it started").WithHint("run the command again")
		case said != nil && (other == 0 || other == pid):
			return nil, said
		case said != nil && (time.Now().After(deadline) || time.Now().After(settled) && heldLong(home)):
			return nil, notReached(home, other)
		case time.Now().After(deadline):
			return nil, notUp(ctx, home, "the daemon does not answer "+startMax.String()+" after its start")
		case said == nil && !running:
			return nil, notUp(ctx, home, "the daemon ended while it started")
		}
		if err := pause(ctx, startPoll); err != nil {
			return nil, err
		}
	}
}

// heldLong tells whether the lock was taken so long ago that its holder is not
// just starting: the file is written only then.
func heldLong(home cw.Home) bool {
	info, err := os.Stat(home.DaemonLock())
	return err == nil && time.Since(info.ModTime()) > heldMin
}

// notUp is the error about a daemon that left no word, with the end of its log.
func notUp(ctx context.Context, home cw.Home, what string) error {
	var last strings.Builder
	if err := proc.FollowFile(ctx, home.DaemonLog(), logTail, &last, false); err == nil && last.Len() > 0 {
		what += "; the end of its log:\n" + strings.TrimSpace(last.String())
	}
	return cw.Errorf(cw.CodeUnreachable, "%s", what).WithHint("cw doctor looks for what is missing; cw serve shows the daemon at work")
}

// newStartReport makes the file in which a daemon that cannot serve says why.
func newStartReport(home cw.Home) (path string, err error) {
	f, err := os.CreateTemp(home.RunState(), "start-*.json")
	if err != nil {
		return "", cw.Errorf(cw.CodeRefused, "cw cannot write in its home %s", home).
			WithHint("make that folder yours and writable, or set CW_HOME to another one").Because(err)
	}
	return f.Name(), f.Close()
}

// readStartReport gives the error of a detached daemon that could not serve,
// nil while there is none.
func readStartReport(path string) *cw.Error {
	var e cw.Error
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &e) != nil || e.Code == "" {
		return nil
	}
	return &e
}

// writeStartReport says why the daemon does not serve, to whoever still waits
// for it: a report that was taken away is not made again.
func writeStartReport(path string, e *cw.Error) error {
	shown := *e
	shown.Message = e.Error() // the cause is not part of the JSON
	b, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// pause waits, less when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
