package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskListOptions struct {
	app        *app
	initiative string
	phase      string
	statuses   []string
}

func newTaskListCmd(a *app, runF func(context.Context, *taskListOptions) error) *cobra.Command {
	opts := &taskListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list INITIATIVE",
		Aliases: []string{"ls"},
		Short:   "List the tasks of an initiative or of a phase, in order",
		Example: "cw task list spring-sale --status ready,running\ncw task list --phase k3v7q2mzt5ha",
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.phase != "" {
				return noArgs(cmd, args)
			}
			return oneArg(&opts.initiative, initiativeWhat+", or --phase")(cmd, args)
		},
		ValidArgsFunction: completeInitiatives(a, true),
		RunE:              start(a, runF, taskListRun, opts),
	}
	cmd.Flags().StringVar(&opts.phase, "phase", "", "those of the phase with this `ID`, instead of an initiative's")
	cmd.Flags().StringSliceVar(&opts.statuses, "status", nil, "only those with this `STATUS`: "+commaList(cw.TaskStatuses()))
	return cmd
}

func taskListRun(ctx context.Context, o *taskListOptions) error {
	a := o.app
	f := cw.TaskFilter{Initiative: o.initiative, PhaseID: cw.PhaseID(o.phase), Statuses: ids[cw.TaskStatus](o.statuses)}
	if err := f.Check(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	tasks, err := svc.Tasks(ctx, f)
	switch {
	case err != nil && o.phase != "":
		return hintNear(ctx, svc, err, nounPhase, o.phase)
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.initiative)
	case a.json:
		return a.printJSON(append([]cw.Task{}, tasks...))
	case len(tasks) == 0:
		a.note("no tasks like that")
		return nil
	}
	header := []string{"ID", "STATUS", "TYPE", "SIZE", "PRIORITY", "AFTER", "NAME"}
	var rows [][]string
	for _, t := range tasks {
		rows = append(rows, []string{
			string(t.ID), string(t.Status), string(t.Type), string(t.Size), string(t.Priority),
			strings.Join(texts(t.DependsOn), ","), cut(oneLine(t.Name), titleMax),
		})
	}
	table(a.out, "", header, rows)
	return nil
}
