package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskEndOptions struct {
	app    *app
	refs   []string
	status cw.TaskStatus
	undo   bool
}

// newTaskEndCmd makes done or cancel.
func newTaskEndCmd(a *app, status cw.TaskStatus, runF func(context.Context, *taskEndOptions) error) *cobra.Command {
	opts := &taskEndOptions{app: a, status: status}
	cmd := &cobra.Command{
		Use:         "done ID...",
		Short:       "Say that tasks are done",
		Annotations: exits("4  it cannot be: see where it stands with cw task show"),
		Args:        someArgs(&opts.refs, taskWhat, "cw task list INITIATIVE shows all"),
		RunE:        start(a, runF, taskEndRun, opts),
	}
	if status == cw.TaskCancelled {
		cmd.Use, cmd.Short = "cancel ID...", "Say that tasks are not to be done"
	}
	cmd.Flags().BoolVar(&opts.undo, "undo", false, "make them pending again")
	return cmd
}

func taskEndRun(ctx context.Context, o *taskEndOptions) error {
	a := o.app
	status := o.status
	if o.undo {
		status = cw.TaskPending
	}
	done, err := a.editTasks(ctx, o.refs, cw.TaskEdit{Status: &status})
	if a.json && (err == nil || len(done) > 0) {
		if printErr := a.printJSON(done); err == nil {
			err = printErr
		}
	}
	return err
}
