package main

import (
	"context"

	"github.com/spf13/cobra"
)

type projectAddOptions struct {
	app  *app
	path string
}

func newProjectAddCmd(a *app, runF func(context.Context, *projectAddOptions) error) *cobra.Command {
	opts := &projectAddOptions{app: a}
	return &cobra.Command{
		Use:   "add PATH",
		Short: "Register a git repository",
		Long: `Register the git repository that contains PATH. cw makes a copy of its own to
work in; the repository itself is only read. cw run does this by itself.`,
		Example: "cw project add .\ncw project add ~/src/site",
		Args:    oneArg(&opts.path, "the path of a git repository"),
		RunE:    start(a, runF, projectAddRun, opts),
	}
}

func projectAddRun(ctx context.Context, o *projectAddOptions) error {
	path, err := o.app.abs(o.path)
	if err != nil {
		return err
	}
	svc, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	p, err := svc.AddProject(ctx, path)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(p)
	}
	o.app.printf("%s\n", oneLine(p.Name))
	o.app.note(`%s is registered as %s; give it work with cw run -C %s "..."`, p.Path, p.Name, shellWord(o.path))
	return nil
}
