package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentAttachOptions struct {
	app          *app
	ref          string
	all          bool
	timeout      time.Duration
	noWaitParked bool
}

func newAgentAttachCmd(a *app, runF func(context.Context, *agentAttachOptions) error) *cobra.Command {
	opts := &agentAttachOptions{app: a}
	cmd := &cobra.Command{
		Use:   "attach NAME",
		Short: "Watch an agent to its end",
		Long: `Watch what an agent does from now on, or with --all from its first word, and
report when it is at rest, as cw run does. Ctrl-C only stops watching.`,
		Annotations: exits(
			"0  idle: the work is committed, or the agent says that nothing was to be done",
			"1  crashed, stopped, or ended with work that is not committed or not handed over",
			"6  --timeout is over, or parked with --no-wait-parked; the agent goes on",
			"7  the agent waits for answers",
			"130  Ctrl-C; the agent goes on",
		),
		Args: oneArg(&opts.ref, agentWhat),
		RunE: start(a, runF, agentAttachRun, opts),
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.all, "all", false, "show what it wrote so far, too")
	fl.DurationVar(&opts.timeout, "timeout", 0, "stop waiting after this `TIME`, like 30m (default: never)")
	fl.BoolVar(&opts.noWaitParked, "no-wait-parked", false, "do not wait for an agent whose accounts are all at their limit")
	return cmd
}

func agentAttachRun(ctx context.Context, o *agentAttachOptions) error {
	a := o.app
	if o.timeout < 0 {
		return usagef("--timeout %s is negative", o.timeout)
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agent, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	query := cw.OutputQuery{Until: cw.UntilRest}
	if !o.all {
		if query.AfterID, err = lastChunk(ctx, svc, agent); err != nil {
			return err
		}
	}
	w := watch{
		app: a, svc: svc, agent: agent, started: agent.CreatedAt, query: query,
		timeout: o.timeout, noWaitParked: o.noWaitParked,
	}
	return w.toTheEnd(ctx)
}

// lastChunk is the id of the last stored chunk of an agent's current run, or 0.
func lastChunk(ctx context.Context, svc cw.Services, agent cw.AgentView) (int64, error) {
	var last int64
	q := cw.OutputQuery{Session: agent.SessionNumber, Until: cw.UntilNow}
	for chunk, err := range svc.Output(ctx, string(agent.ID), q) {
		if err != nil {
			return 0, err
		}
		last = chunk.ID
	}
	return last, nil
}
