package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type eventsOptions struct {
	app        *app
	follow     bool
	tail       bool
	since      int64
	types      []string
	agent      string
	initiative string
}

func newEventsCmd(a *app, runF func(context.Context, *eventsOptions) error) *cobra.Command {
	opts := &eventsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what happened, and with --follow what happens",
		Long: `Show what happened: one line per event with its number, its time, its type, the
agent it is about, and what it says. With --follow it goes on until Ctrl-C, also
when the daemon is restarted meanwhile.

With --json each line is one event. docs/events.md describes all types; the live
ones are not stored and are seen only with --follow.`,
		Example: "cw events --follow\ncw events --type agent:stopped,agent:crashed\ncw events --follow --since 1200 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"agent", "initiative"} {
				if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
					return usagef("--%s is empty, which would show everything", name).WithHint("name one, or leave the flag out")
				}
			}
			return noArgs(cmd, args)
		},
		RunE: start(a, runF, eventsRun, opts),
	}
	fl := cmd.Flags()
	fl.BoolVarP(&opts.follow, "follow", "f", false, "go on with what happens, until Ctrl-C")
	fl.BoolVar(&opts.tail, "tail", false, "with --follow: only what happens from now on")
	fl.Int64Var(&opts.since, "since", 0, "only events after the number `N` (default: from the first that is kept)")
	fl.StringSliceVar(&opts.types, "type", nil, "only this `TYPE`, or several with commas (default: all but agent:output and agent:activity)")
	fl.StringVar(&opts.agent, "agent", "", "only about the agent `NAME`, or an id")
	fl.StringVar(&opts.initiative, "initiative", "", "only about this `INITIATIVE`: its slug or id")
	return cmd
}

func eventsRun(ctx context.Context, o *eventsOptions) error {
	switch {
	case o.since < 0:
		return usagef("--since %d: events are numbered from 1", o.since).WithHint("leave --since out for all that are kept")
	case o.tail && !o.follow:
		return usagef("--tail is of use only with --follow").WithHint("cw events --follow --tail")
	case o.tail && o.since > 0:
		return usagef("events takes --since or --tail, not both").WithHint("--since replays what is stored, --tail does not")
	}
	q := cw.EventQuery{After: o.since, Tail: o.tail, Agent: o.agent, Initiative: o.initiative, Follow: o.follow}
	for _, t := range o.types {
		q.Types = append(q.Types, cw.EventType(t))
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	lines := newEventLines(o.app)
	for e, err := range svc.Events(ctx, q) {
		if err == nil {
			err = o.print(lines, e)
		}
		if err != nil {
			return hintNamed(ctx, svc, err, o.initiative, "", "")
		}
	}
	return ctx.Err()
}

func (o *eventsOptions) print(lines *eventLines, e cw.Event) error {
	if o.app.json {
		return o.app.printJSONLine(e)
	}
	if _, err := fmt.Fprintln(o.app.out, lines.line(e)); err != nil {
		return fmt.Errorf("write the events: %w", err)
	}
	return nil
}
