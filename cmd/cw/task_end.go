package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cw/internal/cw"
)

type taskEndOptions struct {
	app    *app
	refs   []string
	status cw.TaskStatus
	undo   bool
	// comment is for whoever works on it next: a file is not meant, - is stdin.
	comment optionalText
	decisionFlags
}

// newTaskEndCmd makes done or cancel.
func newTaskEndCmd(a *app, status cw.TaskStatus, runF func(context.Context, *taskEndOptions) error) *cobra.Command {
	opts := &taskEndOptions{app: a, status: status}
	cmd := &cobra.Command{
		Use:   "done ID...",
		Short: "Say that tasks are done",
		Long: `Say that tasks are done. A checkpoint that waits for you is decided on: of one that
is to be verified the work is merged then, and what comes after a decision or an
action goes on. Any other task is closed as it is, and nothing of it is merged.

What a decision asks, as cw task show tells, is answered with --answer or --answers,
all of it at once; on a terminal you are asked for what you did not answer.`,
		Example: "cw task done k3v7q2mzt5ha\ncw task done k3v7q2mzt5ha --comment \"blue, as the logo\"\ncw task done k3v7q2mzt5ha --answer colour=blue --answer sizes=S --answer sizes=M",
		Annotations: exits(
			"2  a decision is not answered, or an answer is none",
			"4  it cannot be: see where it stands with cw task show",
			"7  you left with Ctrl-D; nothing was decided",
		),
		Args: someArgs(&opts.refs, taskWhat, "cw task list INITIATIVE shows all"),
		RunE: start(a, runF, taskEndRun, opts),
	}
	if status == cw.TaskCancelled {
		cmd.Use, cmd.Short = "cancel ID...", "Say that tasks are not to be done"
		cmd.Long, cmd.Example = "", ""
		cmd.Annotations = exits("4  it cannot be: see where it stands with cw task show")
	} else {
		commentFlag(cmd.Flags(), &opts.comment)
		opts.define(cmd.Flags())
	}
	cmd.Flags().BoolVar(&opts.undo, "undo", false, "make them pending again")
	return cmd
}

// commentFlag defines --comment, what a person says of a checkpoint.
func commentFlag(fl *pflag.FlagSet, into *optionalText) {
	fl.Var(into, "comment", "what whoever works on it next is told: a `TEXT`, - for stdin")
}

// comment reads what --comment gives, "" without the flag. CodeInvalid.
func (a *app) comment(comment optionalText) (string, error) {
	if comment.value == nil {
		return "", nil
	}
	text, err := a.readText("the comment", *comment.value, cw.VerdictMax)
	if err != nil {
		return "", err
	}
	return text, cw.TaskVerdict{Accept: true, Comment: text}.Check()
}

// check refuses what is wrong whatever the tasks are.
func (o *taskEndOptions) check() error {
	switch {
	case o.given() && len(o.refs) > 1:
		return usagef("answers are for one task, and %d are named", len(o.refs)).WithHint("decide them one after the other")
	case o.comment.String() == stdinName && o.file.String() == stdinName:
		return usagef("--comment and --answers cannot both be read from stdin").WithHint("give one of them otherwise")
	}
	return nil
}

func taskEndRun(ctx context.Context, o *taskEndOptions) error {
	a := o.app
	status := o.status
	if o.undo {
		if o.comment.value != nil || o.given() {
			return usagef("--undo takes neither a comment nor answers").WithHint("they are part of a verdict, which is not taken back")
		}
		status = cw.TaskPending
	}
	if err := o.check(); err != nil {
		return err
	}
	answers, err := o.read(a)
	if err != nil {
		return err
	}
	comment, err := a.comment(o.comment)
	if err != nil {
		return err
	}
	end := func(ctx context.Context, svc cw.Services, id cw.TaskID) (cw.Task, error) {
		if status == cw.TaskDone {
			return a.doneTask(ctx, svc, id, comment, answers)
		}
		return svc.EditTask(ctx, id, cw.TaskEdit{Status: &status})
	}
	done, err := a.eachTask(ctx, o.refs, end)
	if a.json && (err == nil || len(done) > 0) {
		if printErr := a.printJSON(done); err == nil {
			err = printErr
		}
	}
	return err
}

// doneTask accepts a checkpoint that waits for a person, and closes any other
// task.
func (a *app) doneTask(ctx context.Context, svc cw.Services, id cw.TaskID, comment string, given []namedAnswer) (cw.Task, error) {
	t, err := svc.Task(ctx, id)
	switch {
	case err != nil:
		return cw.Task{}, err
	case t.AwaitsVerdict():
		answers, err := a.answersTo(ctx, t, given)
		if err != nil {
			return cw.Task{}, err
		}
		return svc.DecideTask(ctx, id, cw.TaskVerdict{Accept: true, Comment: comment, Answers: answers})
	case comment != "" || len(given) > 0:
		return cw.Task{}, cw.Errorf(cw.CodeRefused, "the task %s waits for no verdict, so nobody would read what you say", t.ID).
			WithHint("cw task show %[1]s says where it stands; cw task done %[1]s closes it without", t.ID)
	}
	done := cw.TaskDone
	closed, err := svc.EditTask(ctx, id, cw.TaskEdit{Status: &done})
	if err == nil {
		a.noteAgentGoesOn(ctx, svc, t)
	}
	return closed, err
}

// noteAgentGoesOn says of a task that was closed that its agent works on it all
// the same: nobody but a person stops an agent.
func (a *app) noteAgentGoesOn(ctx context.Context, svc cw.Services, t cw.Task) {
	if t.AgentID == "" {
		return
	}
	if v, err := svc.Agent(ctx, string(t.AgentID)); err == nil && v.TaskID == t.ID && v.Status.Alive() {
		a.note("its agent %s is %s and goes on; its work is not merged: cw agent stop %[1]s", v.Alias, v.Status)
	}
}
