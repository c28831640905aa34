package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeListOptions struct {
	app      *app
	archived bool
	listing  listing
}

func newInitiativeListCmd(a *app, runF func(context.Context, *initiativeListOptions) error) *cobra.Command {
	opts := &initiativeListOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the initiatives, newest first",
		Args:    noArgs,
		RunE:    start(a, runF, initiativeListRun, opts),
	}
	cmd.Flags().BoolVar(&opts.archived, "archived", false, "those that are archived, instead of those that are active")
	opts.listing.flags(cmd.Flags(), cw.InitiativeList())
	return cmd
}

func initiativeListRun(ctx context.Context, o *initiativeListOptions) error {
	a := o.app
	page, err := o.listing.query()
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	all, err := allInitiatives(ctx, svc, cw.InitiativeFilter{PageQuery: page, Archived: o.archived})
	if err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(append([]cw.Initiative{}, all...))
	case len(all) == 0 && o.archived:
		a.note("no initiative is archived")
		return nil
	case len(all) == 0:
		a.note(`no initiatives yet: cw initiative create "NAME" --project PROJECT`)
		return nil
	}
	header := []string{"SLUG", "ID", "PROJECT", "TASKS", "AGE", "NAME"}
	var rows [][]string
	for _, i := range all {
		rows = append(rows, []string{i.Slug, string(i.ID), projectsFact(i.Projects), progressFact(i.Progress), elapsed(a.now().Sub(i.CreatedAt)), cut(oneLine(i.Name), titleMax)})
	}
	if a.outTTY {
		header, rows = fit(header, rows, a.width())
	}
	table(a.out, "", header, rows)
	return nil
}

// progressFact says how many tasks are done: "14/26".
func progressFact(p *cw.Progress) string {
	if p == nil || p.Tasks == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", p.Done, p.Tasks)
}
