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
	follow  bool
}

func newAgentLogsCmd(a *app, runF func(context.Context, *agentLogsOptions) error) *cobra.Command {
	opts := &agentLogsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show what an agent wrote",
		Long: `Show what an agent wrote, as readable lines, or with --raw exactly the bytes that
its CLI wrote. With --follow it goes on until the agent is at rest.

With --json each line is one parsed event, with --raw --json one stored chunk,
its bytes in base64.`,
		Example: "cw agent logs brave-otter\ncw agent logs --raw --session 1 brave-otter > run-1.jsonl",
		Args:    oneArg(&opts.ref, agentWhat),
		RunE:    start(a, runF, agentLogsRun, opts),
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.raw, "raw", false, "the exact bytes, unfiltered also on a terminal")
	fl.IntVar(&opts.session, "session", 0, "only the run with this number `N` (default: all)")
	fl.BoolVarP(&opts.follow, "follow", "f", false, "go on with what comes, until the agent is at rest")
	return cmd
}

func agentLogsRun(ctx context.Context, o *agentLogsOptions) error {
	if o.session < 0 {
		return usagef("--session %d: sessions are numbered from 1", o.session).WithHint("leave --session out for all of them")
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
	for chunk, err := range svc.Output(ctx, o.ref, q) {
		if err != nil {
			return err
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
	lines := renderer{paint: o.app.paint(o.app.outTTY), cwd: agent.AgentCwd, session: max(o.session, 1)}
	for e, err := range svc.OutputEvents(ctx, o.ref, q) {
		if err != nil {
			return err
		}
		if o.app.json {
			if err := o.app.printJSONLine(e); err != nil {
				return err
			}
			continue
		}
		if err := o.print(lines.render(e)); err != nil {
			return err
		}
	}
	if err := o.print(lines.flush()); err != nil {
		return err
	}
	return ctx.Err()
}

func (o *agentLogsOptions) print(lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(o.app.out, line); err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
	}
	return nil
}
