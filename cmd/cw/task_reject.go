package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskRejectOptions struct {
	app     *app
	id      string
	comment optionalText
}

func newTaskRejectCmd(a *app, runF func(context.Context, *taskRejectOptions) error) *cobra.Command {
	opts := &taskRejectOptions{app: a}
	cmd := &cobra.Command{
		Use:   "reject ID --comment TEXT",
		Short: "Say of a checkpoint that its result is not what was wanted",
		Long: `Say of a checkpoint that its result is not what was wanted. The comment says what is
to be different: the agent of the task goes on with it.`,
		Example:     "cw task reject k3v7q2mzt5ha --comment \"the old price is to stay readable\"\ncw task reject k3v7q2mzt5ha --comment - < notes.md",
		Annotations: exits("4  it waits for no verdict: see where it stands with cw task show"),
		Args:        oneArg(&opts.id, taskWhat),
		RunE:        start(a, runF, taskRejectRun, opts),
	}
	commentFlag(cmd.Flags(), &opts.comment)
	return cmd
}

func taskRejectRun(ctx context.Context, o *taskRejectOptions) error {
	a := o.app
	comment, err := a.comment(o.comment)
	if err != nil {
		return err
	}
	if strings.TrimSpace(comment) == "" { // before a daemon is started for it
		return usagef("the rejection does not say why").WithHint("say with --comment what is to be different: whoever works on it next is told")
	}
	v := cw.TaskVerdict{Comment: comment}
	done, err := a.eachTask(ctx, []string{o.id}, func(ctx context.Context, svc cw.Services, id cw.TaskID) (cw.Task, error) {
		return svc.DecideTask(ctx, id, v)
	})
	if err == nil && a.json {
		return a.printJSON(done[0])
	}
	return err
}
