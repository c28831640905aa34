package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type pageRemoveOptions struct {
	app *app
	id  string
}

func newPageRemoveCmd(a *app, runF func(context.Context, *pageRemoveOptions) error) *cobra.Command {
	opts := &pageRemoveOptions{app: a}
	return &cobra.Command{
		Use:         "remove ID",
		Aliases:     []string{"rm"},
		Short:       "Remove a page that has none below it",
		Annotations: exits("4  it is the first page, or has pages below it"),
		Args:        oneArg(&opts.id, pageWhat),
		RunE:        start(a, runF, pageRemoveRun, opts),
	}
}

func pageRemoveRun(ctx context.Context, o *pageRemoveOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	d, err := svc.RemovePage(ctx, cw.PageID(o.id))
	if err != nil {
		return hintNear(ctx, svc, err, nounPage, o.id)
	}
	if a.json {
		return a.printJSON(d)
	}
	a.printf("removed  %s\n", oneLine(d.Title))
	return nil
}
