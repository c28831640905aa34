package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskDiffOptions struct {
	app *app
	id  string
	diffFlags
}

func newTaskDiffCmd(a *app, runF func(context.Context, *taskDiffOptions) error) *cobra.Command {
	opts := &taskDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff ID [PATH...]",
		Short: "Show what the work on a task changes",
		Long: `Show what the work on a task changes: unless --against says otherwise, against the
commit that it was merged with, else against the one that it began from. It can be
seen when its worktree is gone, too.

` + diffPathsHelp,
		Example:     "cw task diff k3v7q2mzt5ha\ncw task diff k3v7q2mzt5ha --stat\ncw task diff k3v7q2mzt5ha --against head prices docs/prices.md",
		Annotations: exits("3  there is no such task, or a PATH names nothing", "4  nobody worked on it yet"),
		RunE:        start(a, runF, taskDiffRun, opts),
	}
	opts.define(cmd, &opts.id, taskWhat, "the branch of its initiative")
	return cmd
}

func taskDiffRun(ctx context.Context, o *taskDiffOptions) error {
	return o.show(ctx, o.app, func(ctx context.Context, svc cw.Services, req cw.DiffRequest) (cw.Diff, error) {
		d, err := svc.TaskDiff(ctx, cw.TaskID(o.id), req)
		return d, hintNear(ctx, svc, err, nounTask, o.id)
	})
}
