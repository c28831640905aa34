package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type projectListOptions struct{ app *app }

func newProjectListCmd(a *app, runF func(context.Context, *projectListOptions) error) *cobra.Command {
	opts := &projectListOptions{app: a}
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the registered repositories",
		Args:    noArgs,
		RunE:    start(a, runF, projectListRun, opts),
	}
}

func projectListRun(ctx context.Context, o *projectListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	projects, err := cw.AllPages(ctx, svc.Projects)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.Project{}, projects...))
	}
	if len(projects) == 0 {
		a.note("no projects yet; cw project add PATH registers one, and so does cw run")
		return nil
	}
	var rows [][]string
	for _, p := range projects {
		rows = append(rows, []string{p.Name, string(p.ID), p.Path})
	}
	table(a.out, "", []string{"NAME", "ID", "PATH"}, rows)
	return nil
}
