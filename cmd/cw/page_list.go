package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type pageListOptions struct {
	app        *app
	initiative string
}

func newPageListCmd(a *app, runF func(context.Context, *pageListOptions) error) *cobra.Command {
	opts := &pageListOptions{app: a}
	return &cobra.Command{
		Use:               "list INITIATIVE",
		Aliases:           []string{"ls"},
		Short:             "Draw the pages of an initiative as a tree",
		Args:              oneArg(&opts.initiative, initiativeWhat),
		ValidArgsFunction: completeInitiatives(a, true),
		RunE:              start(a, runF, pageListRun, opts),
	}
}

func pageListRun(ctx context.Context, o *pageListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	pages, err := svc.Pages(ctx, o.initiative)
	if err != nil {
		return hintNear(ctx, svc, err, nounInitiative, o.initiative)
	}
	if a.json {
		return a.printJSON(append([]cw.Document{}, pages...))
	}
	printTree(a.out, a.paint(a.outTTY), pageTree(pages))
	return nil
}
