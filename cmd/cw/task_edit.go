package main

import (
	"context"
	"reflect"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type taskEditOptions struct {
	app            *app
	id             string
	phase          optionalText
	name           optionalText
	position       optionalNumber
	noPaths        bool
	noChecks       bool
	noDependencies bool
	noQuestions    bool
	taskFlags
}

func newTaskEditCmd(a *app, runF func(context.Context, *taskEditOptions) error) *cobra.Command {
	opts := &taskEditOptions{app: a}
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change or move a task",
		Long: `Change a task. What is not named stays; of paths, checks, dependencies and
questions give all. Tasks that would come before each other in a circle are
refused, with the way around.`,
		Example:     "cw task edit k3v7q2mzt5ha --depends-on m4w8r3nzu6jb --priority high\ncw task edit k3v7q2mzt5ha --phase p5x9s4oav7kc --position 0",
		Annotations: exits("2  its dependencies run in a circle", "4  its initiative is archived, or its questions are answered"),
		Args:        oneArg(&opts.id, taskWhat),
		RunE:        start(a, runF, taskEditRun, opts),
	}
	fl := cmd.Flags()
	fl.Var(&opts.phase, "phase", "the `ID` of its phase from now on")
	fl.Var(&opts.name, "name", "what it is called from now on: a `NAME`")
	fl.Var(&opts.position, "position", "its place `N` among the tasks of its phase, from 0")
	opts.define(fl)
	fl.BoolVar(&opts.noPaths, "no-paths", false, "do not say which paths it may touch")
	fl.BoolVar(&opts.noChecks, "no-checks", false, "let it have no checks")
	fl.BoolVar(&opts.noDependencies, "no-dependencies", false, "let no task come before it")
	fl.BoolVar(&opts.noQuestions, "no-questions", false, "let it ask nothing")
	return cmd
}

func taskEditRun(ctx context.Context, o *taskEditOptions) error {
	a := o.app
	if err := o.check(); err != nil {
		return err
	}
	e, err := o.edit()
	if err != nil {
		return err
	}
	if e.Body, err = a.body(o.body); err != nil {
		return err
	}
	if o.questions.value != nil {
		if e.Questions, err = a.questions(o.questions); err != nil {
			return err
		}
	}
	if reflect.ValueOf(e).IsZero() {
		return errNothingToChange("--name, --body, --path, --check, --depends-on, --questions, --type, --size, --priority, --phase, --position")
	}
	done, err := a.editTasks(ctx, []string{o.id}, e)
	if err == nil && a.json {
		return a.printJSON(done[0])
	}
	return err
}

// edit is what the flags say but the text.
func (o *taskEditOptions) edit() (cw.TaskEdit, error) {
	switch {
	case len(o.dependsOn) > 0 && o.noDependencies:
		return cw.TaskEdit{}, errBothDependencies()
	case len(o.paths) > 0 && o.noPaths:
		return cw.TaskEdit{}, usagef("--path and --no-paths exclude each other").WithHint("give one of them")
	case len(o.checks) > 0 && o.noChecks:
		return cw.TaskEdit{}, usagef("--check and --no-checks exclude each other").WithHint("give one of them")
	case o.questions.value != nil && o.noQuestions:
		return cw.TaskEdit{}, usagef("--questions and --no-questions exclude each other").WithHint("give one of them")
	}
	e := cw.TaskEdit{
		PhaseID: typed[cw.PhaseID](o.phase), Name: o.name.value, Position: o.position.value,
		Type: typed[cw.TaskType](o.kind), Size: typed[cw.TaskSize](o.size), Priority: typed[cw.TaskPriority](o.priority),
		Paths: listFlag[string](o.paths, o.noPaths), Checks: listFlag[string](o.checks, o.noChecks),
		DependsOn: listFlag[cw.TaskID](o.dependsOn, o.noDependencies),
	}
	if o.noQuestions {
		e.Questions = &[]cw.TaskQuestion{}
	}
	return e, nil
}
