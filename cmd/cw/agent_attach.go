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
	messages     bool
}

func newAgentAttachCmd(a *app, runF func(context.Context, *agentAttachOptions) error) *cobra.Command {
	opts := &agentAttachOptions{app: a}
	cmd := &cobra.Command{
		Use:   "attach NAME",
		Short: "Watch an agent to its end, and tell it something meanwhile",
		Long: `Watch what an agent does from now on, or with --all from its first word, and
report when it is at rest, as cw run does. Ctrl-C only stops watching.

At a terminal each line that you type is sent to the agent when you press enter;
a backslash at its end lets the next line belong to it. For an agent that runs
it is queued: it is the agent's next prompt, and watching goes on. Ctrl-D ends
sending, not watching. Questions of the agent are asked in place, and the line
that you type then is the answer.

Elsewhere stdin is left alone. With --messages its lines are sent in the same
way, and watching ends when stdin is at its end and the agent at rest. A line
that cannot be sent ends it, too.`,
		Example: "cw agent attach brave-otter\ncw agent attach --messages brave-otter < notes.txt",
		Annotations: exits(
			"0  idle: the work is committed, or the agent says that nothing was to be done",
			"1  crashed, stopped, or ended with work that is not committed or not handed over",
			"4  with --messages: a line cannot be sent, for the agent crashed, was stopped or removed",
			"6  --timeout is over, or parked with --no-wait-parked; the agent goes on",
			"7  the agent waits for answers",
			"130  Ctrl-C; the agent goes on",
		),
		Args: oneArg(&opts.ref, agentWhat),
		RunE: start(a, runF, agentAttachRun, opts),
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.all, "all", false, "show what it wrote so far, too")
	fl.BoolVar(&opts.messages, "messages", false, "send the lines of stdin to the agent, as a terminal does by itself")
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
		timeout: o.timeout, noWaitParked: o.noWaitParked, messages: o.messages && !a.asks(), talks: a.asks(),
	}
	if w.talks && !atRest(agent) {
		if a.background != nil {
			a.background()
		}
		a.note("what you type is sent to %s with enter; Ctrl-D ends that, Ctrl-C leaves", agent.Alias)
	}
	return w.toTheEnd(ctx)
}

// lastChunk is the id of the last stored chunk of an agent's output, or 0.
func lastChunk(ctx context.Context, svc cw.Services, agent cw.AgentView) (int64, error) {
	page, err := svc.OutputPage(ctx, string(agent.ID), cw.OutputPageQuery{Limit: 1})
	if cw.ErrorCode(err) == cw.CodeGone {
		return 0, nil // what comes is the first that there is
	}
	return page.Stream, err
}
