package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskShowOptions struct {
	app *app
	id  string
}

func newTaskShowCmd(a *app, runF func(context.Context, *taskShowOptions) error) *cobra.Command {
	opts := &taskShowOptions{app: a}
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a task, and what a decision asks",
		Args:  oneArg(&opts.id, taskWhat),
		RunE:  start(a, runF, taskShowRun, opts),
	}
}

func taskShowRun(ctx context.Context, o *taskShowOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	t, err := svc.Task(ctx, cw.TaskID(o.id))
	if err != nil {
		return hintNear(ctx, svc, err, nounTask, o.id)
	}
	if a.json {
		return a.printJSON(t)
	}
	a.printTask(t)
	if t.Body != "" {
		a.printf("\n")
	}
	a.printText("", t.Body)
	a.printTaskQuestions(t)
	return nil
}
