package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentSendOptions struct {
	app     *app
	ref     string
	words   []string
	noQueue bool
}

func newAgentSendCmd(a *app, runF func(context.Context, *agentSendOptions) error) *cobra.Command {
	opts := &agentSendOptions{app: a}
	cmd := &cobra.Command{
		Use:   "send NAME TEXT...",
		Short: "Tell an agent something, now or as its next prompt",
		Long: `Give an agent a text; - reads it from stdin. An idle agent goes on with it at
once. For one that runs or waits for answers it is queued: it is in the agent's
next prompt, and nothing is lost on the way. After -- it may begin with a hyphen.`,
		Example: "cw agent send brave-otter \"use the new parser\"\ncw agent send brave-otter - < notes.md",
		Annotations: exits(
			"0  it is queued, or the agent goes on with it",
			"4  the agent crashed, was stopped or removed; with --no-queue also: it is busy",
		),
		Args: nameAndText(&opts.ref, &opts.words),
		RunE: start(a, runF, agentSendRun, opts),
	}
	hyphensBehind(cmd, "a text", `brave-otter -- "-v prints nothing"`)
	cmd.Flags().BoolVar(&opts.noQueue, "no-queue", false, "refuse while the agent is busy, rather than queue")
	return cmd
}

func agentSendRun(ctx context.Context, o *agentSendOptions) error {
	a := o.app
	text, err := a.textOf(o.words)
	if err != nil {
		return err
	}
	req := cw.SendRequest{Text: text, WhenBusy: cw.BusyQueue}
	if o.noQueue {
		req.WhenBusy = cw.BusyRefuse
	}
	if err := req.Check(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	before, err := svc.Agent(ctx, o.ref)
	if err != nil {
		return err
	}
	m, err := svc.Send(ctx, string(before.ID), req)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(m)
	case before.Status == cw.StatusIdle:
		a.printf("%s goes on with it\n", before.Alias)
		a.note("watch it with cw agent attach %s", before.Alias)
	default:
		a.printf("queued: %s has it in its next prompt\n", before.Alias)
		a.note("cw agent messages %s shows what waits", before.Alias)
	}
	return nil
}
