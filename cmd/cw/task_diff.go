package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskDiffOptions struct {
	app     *app
	id      string
	project string
	stat    bool
}

func newTaskDiffCmd(a *app, runF func(context.Context, *taskDiffOptions) error) *cobra.Command {
	opts := &taskDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff ID",
		Short: "Show what the work on a task changes",
		Long: `Show what the work on a task changes: against the commit that it was merged with,
else against the one that it began from. It can be seen when its worktree is gone,
too.`,
		Example:     "cw task diff k3v7q2mzt5ha\ncw task diff k3v7q2mzt5ha --stat",
		Annotations: exits("4  nobody worked on it yet"),
		Args:        oneArg(&opts.id, taskWhat),
		RunE:        start(a, runF, taskDiffRun, opts),
	}
	cmd.Flags().StringVar(&opts.project, "project", "", "which `PROJECT`, when the work is in several")
	cmd.Flags().BoolVar(&opts.stat, "stat", false, "only commits and sizes")
	return cmd
}

func taskDiffRun(ctx context.Context, o *taskDiffOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	req := cw.DiffRequest{Stat: o.stat}
	if req.Project, err = a.projectNamed(ctx, svc, o.project); err != nil {
		return err
	}
	d, err := svc.TaskDiff(ctx, cw.TaskID(o.id), req)
	if err != nil {
		return hintNear(ctx, svc, err, nounTask, o.id)
	}
	return a.printDiff(d, o.stat)
}
