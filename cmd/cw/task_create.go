package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskCreateOptions struct {
	app   *app
	phase string
	name  string
	taskFlags
}

func newTaskCreateCmd(a *app, runF func(context.Context, *taskCreateOptions) error) *cobra.Command {
	opts := &taskCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:   "create --phase ID NAME",
		Short: "Make a task as the last one of a phase",
		Long: `Make a task as the last one of a phase. It is pending: you ask for it. What is not
said is auto, medium and medium: an agent does it, it is some work, and no more
urgent than others. A decision may ask questions, in the form of those of agents:
cw task done answers them.`,
		Example: `cw task create --phase k3v7q2mzt5ha "Lower a price for a time" --body task.md --path "prices/**" --check "go test ./prices passes"
cw task create --phase k3v7q2mzt5ha "Choose the colour" --type checkpoint:decision --depends-on m4w8r3nzu6jb
echo '[{"id": "colour", "question": "Which colour?", "options": ["blue", "red"]}]' |
  cw task create --phase k3v7q2mzt5ha "Choose the colour" --type checkpoint:decision --questions -`,
		Args: oneArg(&opts.name, "a name"),
		RunE: start(a, runF, taskCreateRun, opts),
	}
	hyphensBehind(cmd, "a name", `--phase ID -- "-v for all"`)
	cmd.Flags().StringVar(&opts.phase, "phase", "", "the `ID` of its phase; needed")
	opts.define(cmd.Flags())
	return cmd
}

func taskCreateRun(ctx context.Context, o *taskCreateOptions) error {
	a := o.app
	if o.phase == "" {
		return usagef("of which phase is the task?").WithHint("name it with --phase ID; cw initiative show INITIATIVE lists the ids")
	}
	if err := o.check(); err != nil {
		return err
	}
	body, err := a.body(o.body)
	if err != nil {
		return err
	}
	questions, err := a.questions(o.questions)
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	t, err := svc.CreateTask(ctx, cw.CreateTaskRequest{
		PhaseID: cw.PhaseID(o.phase), Name: o.name, Body: orText(body), Paths: o.paths, Checks: o.checks,
		Type: cw.TaskType(o.kind.String()), Size: cw.TaskSize(o.size.String()), Priority: cw.TaskPriority(o.priority.String()),
		DependsOn: ids[cw.TaskID](o.dependsOn), Questions: orNone(questions),
	})
	if err != nil {
		return hintNear(ctx, svc, err, nounPhase, o.phase)
	}
	if a.json {
		return a.printJSON(t)
	}
	a.printTask(t)
	return nil
}
