package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type restartOptions struct{ app *app }

func newRestartCmd(a *app, runF func(context.Context, *restartOptions) error) *cobra.Command {
	opts := &restartOptions{app: a}
	return &cobra.Command{
		Use:   "restart",
		Short: "Replace the daemon by one of this version; agents run on",
		Long: `End the daemon, if one runs, and start one of this version. Agents are not
touched: the new daemon adopts them and goes on from the last byte it stored.`,
		Args: noArgs,
		RunE: start(a, runF, restartRun, opts),
	}
}

func restartRun(ctx context.Context, o *restartOptions) error {
	a := o.app
	home, err := a.home()
	if err != nil {
		return err
	}
	if a.inside(home) {
		return cw.Errorf(cw.CodeRefused, "an agent cannot restart the daemon: the new one would end with the agent").
			WithHint("a person restarts it outside of the run")
	}
	from, err := a.configSources()
	if err != nil {
		return err
	}
	if _, err := daemon.LoadSettings(from); err != nil {
		return err // before the daemon that runs is ended for one that cannot start
	}
	was, err := a.stopDaemon(ctx)
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		if was.Stopped {
			a.note("the old daemon is stopped, and no other one started; agents run on")
		}
		return err
	}
	status, err := svc.Status(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(status)
	}
	a.printf("the daemon runs with pid %d; %s alive\n", status.PID, count(status.AgentsAlive, "agent"))
	return nil
}
