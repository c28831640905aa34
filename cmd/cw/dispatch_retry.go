package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type dispatchRetryOptions struct {
	app  *app
	refs []string
}

func newDispatchRetryCmd(a *app, runF func(context.Context, *dispatchRetryOptions) error) *cobra.Command {
	opts := &dispatchRetryOptions{app: a}
	return &cobra.Command{
		Use:   "retry TASK...",
		Short: "Try tasks again that are blocked or wait to be tried",
		Long: `Try tasks again that are blocked, or wait for the time of their next try: they get
all of their tries back. A new agent is told what failed; the work of the last one
is kept.`,
		Annotations: exits("4  it is neither: cw dispatch status says what it waits for"),
		Args:        someArgs(&opts.refs, taskWhat, "cw dispatch status shows what is blocked"),
		RunE:        start(a, runF, dispatchRetryRun, opts),
	}
}

func dispatchRetryRun(ctx context.Context, o *dispatchRetryOptions) error {
	a := o.app
	done, err := a.eachTask(ctx, o.refs, func(ctx context.Context, svc cw.Services, id cw.TaskID) (cw.Task, error) {
		return svc.RetryTask(ctx, id)
	})
	if a.json && (err == nil || len(done) > 0) {
		if printErr := a.printJSON(done); err == nil {
			err = printErr
		}
	}
	return err
}
