package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// stopMax is how long the end of a daemon is waited for.
const stopMax = 30 * time.Second

type stopOptions struct{ app *app }

// stopped is what `cw stop --json` prints.
type stopped struct {
	Stopped     bool `json:"stopped"` // false: none was running
	PID         int  `json:"pid,omitempty"`
	AgentsAlive int  `json:"agentsAlive"` // they run on
}

func newStopCmd(a *app, runF func(context.Context, *stopOptions) error) *cobra.Command {
	opts := &stopOptions{app: a}
	return &cobra.Command{
		Use:   "stop",
		Short: "End the daemon; agents run on",
		Long: `End the daemon and wait until it is gone. Agents run on: their output is kept in
files, and the next daemon takes all of it up. When no daemon runs there is
nothing to do, which is no error.`,
		Example: "cw stop\ncw agent stop --all && cw stop",
		Args:    noArgs,
		RunE:    start(a, runF, stopRun, opts),
	}
}

func stopRun(ctx context.Context, o *stopOptions) error {
	a := o.app
	was, err := a.stopDaemon(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(was)
	}
	if !was.Stopped {
		a.printf("the daemon is not running\n")
		return nil
	}
	a.printf("the daemon is stopped%s\n", runOn(was.AgentsAlive))
	return nil
}

// runOn says how many agents run without a daemon.
func runOn(alive int) string {
	if alive == 0 {
		return ""
	}
	return "; " + count(alive, "agent") + plural(alive, " runs", " run") + " on"
}

// stopDaemon ends the daemon and waits until its process is gone.
func (a *app) stopDaemon(ctx context.Context) (stopped, error) {
	was, err := a.askToEnd(ctx)
	if err != nil || !was.Stopped {
		return was, err
	}
	short, cancel := context.WithTimeout(ctx, stopMax)
	defer cancel()
	if err := a.gone(short, was.PID); err != nil {
		if ctx.Err() != nil {
			return stopped{}, err
		}
		return stopped{}, cw.Errorf(cw.CodeTimeout, "the daemon with pid %d was asked to end, and is still there after %s", was.PID, stopMax).
			WithHint("cw logs shows what it waits for; agents run on also after kill -9 %d", was.PID)
	}
	return was, nil
}

// askToEnd asks the daemon over its socket, and one that cannot be asked there
// by a signal: its socket is lost, it speaks another version, it hangs, it
// cannot tell who is calling.
func (a *app) askToEnd(ctx context.Context) (stopped, error) {
	svc, err := a.reach(ctx)
	if err == nil {
		var was cw.DaemonStatus
		if was, err = svc.Shutdown(ctx); err == nil {
			return stopped{Stopped: true, PID: was.PID, AgentsAlive: was.AgentsAlive}, nil
		}
		if cw.ErrorCode(err) != cw.CodeUnreachable {
			return stopped{}, err // it knows who is calling, and refuses
		}
	}
	switch code := cw.ErrorCode(err); {
	case code == cw.CodeForbidden && a.env["CW_TOKEN"] != "":
		return stopped{}, err // the token is what it refuses, and can be left out
	case code == cw.CodeUnreachable, code == cw.CodeForbidden, code == cw.CodeUnauthorized:
		return a.signalToEnd(err)
	}
	return stopped{}, err
}

// signalToEnd ends whoever holds the home. why is what the socket gave.
func (a *app) signalToEnd(why error) (stopped, error) {
	home, err := a.home()
	if err != nil {
		return stopped{}, err
	}
	if absent(why) && a.holder(home) == 0 {
		return stopped{}, nil
	}
	if a.inside(home) {
		return stopped{}, cw.Errorf(cw.CodeRefused, "an agent cannot end the daemon").WithHint("a person does, outside of the run")
	}
	pid, err := a.end(home)
	switch {
	case err != nil:
		return stopped{}, err
	case pid == 0 && !absent(why) && !saidItself(why):
		return stopped{}, why // something answers there, and holds no home
	}
	return stopped{Stopped: pid != 0, PID: pid}, nil
}
