package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeEditOptions struct {
	app        *app
	ref        string
	name       optionalText
	goal       optionalText
	projects   []string
	noProjects bool
	provider   optionalText
	model      optionalText
	script     optionalText
	hold       bool
	held       func() bool // --hold was said
}

func newInitiativeEditCmd(a *app, runF func(context.Context, *initiativeEditOptions) error) *cobra.Command {
	opts := &initiativeEditOptions{app: a}
	cmd := &cobra.Command{
		Use:     "edit INITIATIVE",
		Short:   "Change the name, the goal or the repositories of an initiative",
		Long:    "Change an initiative. What is not named stays; its slug stays in any case.",
		Example: "cw initiative edit spring-sale --goal - < goal.md\ncw initiative edit spring-sale --project shop --project docs",
		Args:    oneArg(&opts.ref, initiativeWhat),
		RunE:    start(a, runF, initiativeEditRun, opts),
	}
	fl := cmd.Flags()
	fl.Var(&opts.name, "name", "what it is called from now on: a `NAME`")
	fl.Var(&opts.goal, "goal", "what is to be reached: a `TEXT`, Markdown; - reads it from stdin")
	fl.StringArrayVar(&opts.projects, "project", nil, "a `PROJECT` that it spans; give all of them")
	fl.BoolVar(&opts.noProjects, "no-projects", false, "let it span no project")
	fl.Var(&opts.provider, "provider", "the `PROVIDER` that does its tasks; empty: as for any agent")
	fl.Var(&opts.model, "model", "the `MODEL` that does its tasks; empty: the CLI's own")
	fl.Var(&opts.script, "script", "with the provider script: the executable `FILE` that does its tasks")
	fl.BoolVar(&opts.hold, "hold", false, "do not start its tasks by themselves; --hold=false starts them again")
	opts.held = func() bool { return fl.Changed("hold") }
	return cmd
}

func initiativeEditRun(ctx context.Context, o *initiativeEditOptions) error {
	a := o.app
	e := cw.InitiativeEdit{Name: o.name.value}
	var err error
	if e.Goal, err = a.goalText(o.goal); err != nil {
		return err
	}
	refs, err := a.projectRefs(o.projects)
	if err != nil {
		return err
	}
	if len(refs) > 0 && o.noProjects {
		return usagef("--project and --no-projects exclude each other").WithHint("give one of them")
	}
	if e.Work, err = o.workEdit(a); err != nil {
		return err
	}
	if e.Projects = listFlag[string](refs, o.noProjects); e == (cw.InitiativeEdit{}) {
		return errNothingToChange("--name, --goal, --project, --no-projects, --provider, --model, --script, --hold")
	}
	return a.editInitiative(ctx, o.ref, e)
}

// workEdit is what is said of how tasks are done; nil for nothing.
func (o *initiativeEditOptions) workEdit(a *app) (*cw.WorkEdit, error) {
	w := cw.WorkEdit{Provider: o.provider.value, Model: o.model.value, Script: o.script.value}
	if w.Script != nil && *w.Script != "" {
		path, err := a.scriptPath(*w.Script)
		if err != nil {
			return nil, err
		}
		w.Script = &path
	}
	if o.held != nil && o.held() {
		w.Hold = &o.hold
	}
	if w == (cw.WorkEdit{}) {
		return nil, nil
	}
	return &w, nil
}

// editInitiative changes an initiative and shows it.
func (a *app) editInitiative(ctx context.Context, ref string, e cw.InitiativeEdit) error {
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	if e.Projects != nil {
		if err := a.register(ctx, svc, *e.Projects); err != nil {
			return err
		}
	}
	i, err := svc.EditInitiative(ctx, ref, e)
	if err != nil {
		return hintNear(ctx, svc, err, nounInitiative, ref)
	}
	if a.json {
		return a.printJSON(i)
	}
	a.printInitiative(i)
	return nil
}

// errNothingToChange refuses an edit that says nothing.
func errNothingToChange(flags string) *cw.Error {
	return usagef("what is to be changed?").WithHint("say it with one of %s", flags)
}
