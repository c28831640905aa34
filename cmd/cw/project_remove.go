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
branches in it stay. Refused while agents use it, and, for a remote repository,
while branches of agents are nowhere else.`,
		Args: oneArg(&opts.ref, "a project: a name, an id, a path or a URL"),
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
	if p.Remote() {
		o.app.printf("removed %s; %s is as it was\n", oneLine(p.Name), oneLine(p.RemoteURL))
		return nil
	}
	o.app.printf("removed %s; your repository %s is as it was\n", oneLine(p.Name), oneLine(p.Path))
	return nil
}
