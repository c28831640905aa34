package main

import (
	"context"
	"reflect"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type phaseEditOptions struct {
	app            *app
	id             string
	name           optionalText
	body           optionalText
	position       optionalNumber
	status         optionalText
	dependsOn      []string
	noDependencies bool
}

func newPhaseEditCmd(a *app, runF func(context.Context, *phaseEditOptions) error) *cobra.Command {
	opts := &phaseEditOptions{app: a}
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change a phase",
		Long: `Change a phase. What is not named stays. Phases that would come before each other
in a circle are refused, with the way around.`,
		Example:     "cw phase edit k3v7q2mzt5ha --depends-on m4w8r3nzu6jb\ncw phase edit k3v7q2mzt5ha --status done",
		Annotations: exits("2  its dependencies run in a circle", "4  the status cannot follow the one it has, or its initiative is archived"),
		Args:        oneArg(&opts.id, phaseWhat),
		RunE:        start(a, runF, phaseEditRun, opts),
	}
	fl := cmd.Flags()
	fl.Var(&opts.name, "name", "what it is called from now on: a `NAME`")
	bodyFlag(fl, &opts.body)
	fl.Var(&opts.position, "position", "its place `N` among the phases, from 0")
	fl.Var(&opts.status, "status", "where it stands: `STATUS` is draft, approved, done or archived")
	fl.StringSliceVar(&opts.dependsOn, "depends-on", nil, "the `ID` of a phase that comes before it; give all of them")
	fl.BoolVar(&opts.noDependencies, "no-dependencies", false, "let no phase come before it")
	return cmd
}

func phaseEditRun(ctx context.Context, o *phaseEditOptions) error {
	a := o.app
	if len(o.dependsOn) > 0 && o.noDependencies {
		return errBothDependencies()
	}
	e := cw.PhaseEdit{
		Name: o.name.value, Position: o.position.value, Status: typed[cw.PhaseStatus](o.status),
		DependsOn: listFlag[cw.PhaseID](o.dependsOn, o.noDependencies),
	}
	var err error
	if e.Body, err = a.body(o.body); err != nil {
		return err
	}
	if reflect.ValueOf(e).IsZero() {
		return errNothingToChange("--name, --body, --position, --status, --depends-on, --no-dependencies")
	}
	done, err := a.editPhases(ctx, []string{o.id}, e)
	if err == nil && a.json {
		return a.printJSON(done[0])
	}
	return err
}

func errBothDependencies() *cw.Error {
	return usagef("--depends-on and --no-dependencies exclude each other").WithHint("give one of them")
}
