package main

import (
	"context"
	"fmt"

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
	a.printResult(ctx, svc, t)
	return nil
}

// printResult tells a person who is asked to look at the result of a task where it
// is, how it is run, and what to say then. It only adds to the picture: what cannot
// be read is left out.
func (a *app) printResult(ctx context.Context, svc cw.Services, t cw.Task) {
	if t.Type != cw.TaskCheckpointVerify || !t.AwaitsVerdict() {
		return
	}
	a.printf("\n%s\n", a.paint(a.outTTY).bold("Look at the result"))
	var rows [][2]string
	if v, err := svc.Agent(ctx, string(t.AgentID)); err == nil {
		for _, w := range v.Projects {
			rows = append(rows, resultIn(ctx, svc, w)...)
		}
	}
	id := oneLine(string(t.ID))
	facts(a.out, "  ", append(rows, [][2]string{
		{"changes", "cw task diff " + id},
		{"good", "cw task done " + id},
		{"not yet", "cw task reject " + id + " --comment \"what is to be different\""},
	}...))
}

// resultIn is what there is to be looked at in one project.
func resultIn(ctx context.Context, svc cw.Services, w cw.AgentWorktree) [][2]string {
	if w.Commits == 0 {
		return nil
	}
	run := ""
	if f, err := svc.ProjectFile(ctx, string(w.ProjectID), w.HeadCommit); err == nil {
		run = clean(f.File.Run)
	}
	return [][2]string{
		{"project", oneLine(w.Project)},
		{"branch", oneLine(w.Branch)},
		{"worktree", worktreeFact(w)},
		{"size", fmt.Sprintf("%s, %s", count(w.Commits, "commit"), statFact(w.Stat))},
		{"run", run},
	}
}
