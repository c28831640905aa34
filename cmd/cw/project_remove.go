package main

import (
	"context"

	"github.com/spf13/cobra"
)

type projectRemoveOptions struct {
	app *app
	ref string
}

func newProjectRemoveCmd(a *app, runF func(context.Context, *projectRemoveOptions) error) *cobra.Command {
	opts := &projectRemoveOptions{app: a}
	return &cobra.Command{
		Use:     "remove PROJECT",
		Aliases: []string{"rm"},
		Short:   "Forget a registered repository",
		Long: `Forget a registered repository and delete cw's own copy. Your repository and the
branches in it stay. Refused while agents use it.`,
		Args: oneArg(&opts.ref, "a project: a name, an id or a path"),
		RunE: start(a, runF, projectRemoveRun, opts),
	}
}

func projectRemoveRun(ctx context.Context, o *projectRemoveOptions) error {
	ref, err := o.app.projectRef(o.ref)
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	p, err := svc.RemoveProject(ctx, ref)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(p)
	}
	o.app.printf("removed %s; your repository %s is as it was\n", oneLine(p.Name), oneLine(p.Path))
	return nil
}
