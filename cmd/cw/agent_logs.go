package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentLogsOptions struct {
	app     *app
	ref     string
	raw     bool
	session int
	tail    int
	follow  bool
}

func newAgentLogsCmd(a *app, runF func(context.Context, *agentLogsOptions) error) *cobra.Command {
	opts := &agentLogsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show what an agent wrote",
		Long: `Show what an agent wrote, as readable lines, or with --raw exactly the bytes that
its CLI wrote. With --follow it goes on until the agent is at rest. With --tail it
begins with the last lines, which are read from the end, however much is before.

With --json each line is one parsed event, with --raw --json one stored chunk,
its bytes in base64.`,
		Example: "cw agent logs brave-otter\ncw agent logs --tail 20 --follow brave-otter\ncw agent logs --raw --session 1 brave-otter > run-1.jsonl",
		Args:    oneArg(&opts.ref, agentWhat),
		RunE:    start(a, runF, agentLogsRun, opts),
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.raw, "raw", false, "the exact bytes, unfiltered also on a terminal")
	fl.IntVar(&opts.session, "session", 0, "only the run with this number `N` (default: all)")
	fl.IntVarP(&opts.tail, "tail", "n", tailAll, "only the last `N` lines of what is there, with --json events; -1: all")
	fl.BoolVarP(&opts.follow, "follow", "f", false, "go on with what comes, until the agent is at rest")
	return cmd
}

func agentLogsRun(ctx context.Context, o *agentLogsOptions) error {
	if o.session < 0 {
		return usagef("--session %d: sessions are numbered from 1", o.session).WithHint("leave --session out for all of them")
	}
	if o.tail < tailAll || o.tail > tailMax {
		return usagef("--tail %d: at most the last %d lines are shown", o.tail, tailMax).WithHint("leave --tail out for all of them")
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	q := cw.OutputQuery{Session: o.session, Only: o.session > 0, Until: cw.UntilNow}
	if o.follow {
		q.Until = cw.UntilRest
	}
	if o.raw {
		return o.printRaw(ctx, svc, q)
	}
	return o.printEvents(ctx, svc, q)
}

func (o *agentLogsOptions) printRaw(ctx context.Context, svc cw.Services, q cw.OutputQuery) error {
	var end cw.OutputPlace // without --follow; of no run: there is none
	if o.tail > tailAll {
		var begin cw.OutputPlace
		var err error
		if begin, end, err = o.tailRaw(ctx, svc); err != nil {
			return err
		}
		q.Session, q.Offset = begin.Session, begin.Offset
	}
	for chunk, err := range svc.Output(ctx, o.ref, q) {
		if err != nil {
			return err
		}
		if !o.follow && end.Session > 0 && chunk.SessionNumber == end.Session { // the rest came meanwhile
			if chunk.Offset >= end.Offset {
				break
			}
			chunk.Bytes = chunk.Bytes[:min(int64(len(chunk.Bytes)), end.Offset-chunk.Offset)]
		}
		if o.app.json {
			err = o.app.printJSONLine(chunk)
		} else {
			_, err = o.app.out.Write(chunk.Bytes)
		}
		if err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
	}
	return ctx.Err()
}

func (o *agentLogsOptions) printEvents(ctx context.Context, svc cw.Services, q cw.OutputQuery) error {
	agent, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	lines := o.outputLines(agent.AgentCwd, max(o.session, 1))
	if o.tail > tailAll {
		lines.session = 0
		if q.AfterID, err = o.tailEvents(ctx, svc, lines); err != nil || !o.follow || o.over(agent) {
			return err
		}
	}
	for e, err := range svc.OutputEvents(ctx, o.ref, q) {
		if err != nil {
			return err
		}
		some, err := lines.of(e)
		if err != nil {
			return err
		}
		if err := o.print(some); err != nil {
			return err
		}
	}
	if err := o.print(lines.rest()); err != nil {
		return err
	}
	return ctx.Err()
}

// over reports whether nothing can come of the only run that is shown: there is a
// later one.
func (o *agentLogsOptions) over(agent cw.AgentView) bool {
	n := len(agent.Runs)
	return o.session > 0 && n > 0 && agent.Runs[n-1].SessionNumber > o.session
}

func (o *agentLogsOptions) print(lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(o.app.out, line); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
	}
	return nil
}
