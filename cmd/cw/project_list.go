package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type projectListOptions struct {
	app     *app
	listing listing
}

func newProjectListCmd(a *app, runF func(context.Context, *projectListOptions) error) *cobra.Command {
	opts := &projectListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the registered repositories",
		Args:    noArgs,
		RunE:    start(a, runF, projectListRun, opts),
	}
	opts.listing.flags(cmd.Flags(), cw.ProjectList())
	return cmd
}

func projectListRun(ctx context.Context, o *projectListOptions) error {
	a := o.app
	page, err := o.listing.query()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	projects, err := cw.SomePages(ctx, page.Limit, func(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Project], error) {
		q.Sort = page.Sort
		return svc.Projects(ctx, q)
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(append([]cw.Project{}, projects...))
	}
	if len(projects) == 0 {
		a.note("no projects yet; cw project add PATH|URL registers one, and so does cw run")
		return nil
	}
	var rows [][]string
	for _, p := range projects {
		rows = append(rows, []string{p.Name, string(p.ID), oneLine(p.Where())})
	}
	table(a.out, "", []string{"NAME", "ID", "WHERE"}, rows)
	return nil
}
