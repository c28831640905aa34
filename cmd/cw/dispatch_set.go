package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type dispatchSetOptions struct {
	app   *app
	state cw.DispatchState
}

// newDispatchSetCmd makes pause, resume or drain.
func newDispatchSetCmd(a *app, state cw.DispatchState, runF func(context.Context, *dispatchSetOptions) error) *cobra.Command {
	opts := &dispatchSetOptions{app: a, state: state}
	cmd := &cobra.Command{Args: noArgs, RunE: start(a, runF, dispatchSetRun, opts)}
	switch state {
	case cw.DispatchPaused:
		cmd.Use, cmd.Short = "pause", "Start and merge nothing any more; agents work on"
		cmd.Long = "Start and merge nothing any more, in no initiative, until cw dispatch resume. Agents\nthat run work on, and what they do waits. It holds across restarts of the daemon."
	case cw.DispatchDraining:
		cmd.Use, cmd.Short = "drain", "Start nothing any more, and merge what is done"
		cmd.Long = "Start nothing any more, in no initiative, until cw dispatch resume. Agents that run\nwork on, and what they do is checked and merged."
	default:
		cmd.Use, cmd.Short = "resume", "Start and merge again what is ready"
	}
	return cmd
}

func dispatchSetRun(ctx context.Context, o *dispatchSetOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	s, err := svc.SetDispatch(ctx, cw.DispatchRequest{State: o.state})
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(s)
	}
	a.printf("%s\n", stateFact(a.paint(a.outTTY), s.State))
	if len(s.Running) > 0 && s.State != cw.DispatchRunning {
		a.note("%s under way: cw dispatch status", count(len(s.Running), "task")+plural(len(s.Running), " is", " are"))
	}
	return nil
}
