package main

import (
	"context"

	"github.com/spf13/cobra"
)

type projectShowOptions struct {
	app *app
	ref string
}

func newProjectShowCmd(a *app, runF func(context.Context, *projectShowOptions) error) *cobra.Command {
	opts := &projectShowOptions{app: a}
	return &cobra.Command{
		Use:   "show PROJECT",
		Short: "Show one registered repository",
		Long:  "Show one registered repository, named by its name, id, path or URL.",
		Args:  oneArg(&opts.ref, "a project: a name, an id, a path or a URL"),
		RunE:  start(a, runF, projectShowRun, opts),
	}
}

func projectShowRun(ctx context.Context, o *projectShowOptions) error {
	ref, err := o.app.projectRef(o.ref)
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	p, err := svc.Project(ctx, ref)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(p)
	}
	o.app.printProject(p)
	return nil
}
