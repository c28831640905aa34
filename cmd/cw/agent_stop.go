package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentStopOptions struct {
	app *app
	ref string
	all bool
	now bool
}

func newAgentStopCmd(a *app, runF func(context.Context, *agentStopOptions) error) *cobra.Command {
	opts := &agentStopOptions{app: a}
	cmd := &cobra.Command{
		Use:   "stop NAME | --all",
		Short: "End an agent and all its processes",
		Long: `End an agent and all processes it started: they are asked to end, and killed when
they are still there after 10 seconds. What the agent wrote and changed is kept.

An agent that waits for answers is stopped, too: its open questions are withdrawn,
and its next run is told so. One that is parked no longer goes on by itself. One
that is idle or crashed is left as it is.`,
		Example: "cw agent stop brave-otter\ncw agent stop --all --now",
		RunE:    start(a, runF, agentStopRun, opts),
	}
	one := oneArg(&opts.ref, agentWhat+", or --all")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !opts.all:
			return one(cmd, args)
		case len(args) > 0:
			return usagef("%s takes a name or --all, not both", title(cmd)).WithHint("usage: %s", cmd.UseLine())
		}
		return nil
	}
	cmd.Flags().BoolVar(&opts.all, "all", false, "every agent that works or is parked")
	cmd.Flags().BoolVar(&opts.now, "now", false, "kill at once")
	return cmd
}

func agentStopRun(ctx context.Context, o *agentStopOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	if o.all {
		return o.stopAll(ctx, svc)
	}
	v, err := svc.Stop(ctx, o.ref, cw.StopRequest{Now: o.now})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(v)
	}
	a.printStopped(v)
	return nil
}

// stopAll stops all agents at the same time: each may take its whole grace.
func (o *agentStopOptions) stopAll(ctx context.Context, svc cw.Services) error {
	a := o.app
	alive, err := cw.AllAgents(ctx, svc, cw.AgentFilter{Statuses: []cw.AgentStatus{
		cw.StatusPending, cw.StatusStarting, cw.StatusRunning, cw.StatusParked,
	}})
	if err != nil {
		return err
	}
	after := make([]cw.AgentView, len(alive))
	errs := make([]error, len(alive))
	var all sync.WaitGroup
	for i, v := range alive {
		all.Go(func() {
			if after[i], errs[i] = svc.Stop(ctx, string(v.ID), cw.StopRequest{Now: o.now}); errs[i] != nil {
				after[i], errs[i] = v, fmt.Errorf("stop %s: %w", v.Alias, errs[i])
			}
		})
	}
	all.Wait()
	if a.json {
		err = a.printJSON(after)
	} else {
		if len(alive) == 0 {
			a.note("no agent works")
		}
		for i, v := range after {
			if errs[i] == nil {
				a.printStopped(v)
			}
		}
	}
	return errors.Join(errors.Join(errs...), err)
}

func (a *app) printStopped(v cw.AgentView) {
	if v.Status == cw.StatusStopped {
		a.printf("%s is stopped\n", v.Alias)
		return
	}
	a.printf("%s did not run; it is %s%s\n", v.Alias, v.Status, bracketed(string(v.Reason)))
}
