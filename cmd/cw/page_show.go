package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type pageShowOptions struct {
	app *app
	id  string
	raw bool
}

func newPageShowCmd(a *app, runF func(context.Context, *pageShowOptions) error) *cobra.Command {
	opts := &pageShowOptions{app: a}
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show a page",
		Example: "cw page show k3v7q2mzt5ha\ncw page show k3v7q2mzt5ha --raw > page.md",
		Args:    oneArg(&opts.id, pageWhat),
		RunE:    start(a, runF, pageShowRun, opts),
	}
	cmd.Flags().BoolVar(&opts.raw, "raw", false, "print its text alone, every byte as it is")
	return cmd
}

func pageShowRun(ctx context.Context, o *pageShowOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	d, err := svc.PageByID(ctx, cw.PageID(o.id))
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounPage, o.id)
	case a.json:
		return a.printJSON(d)
	case o.raw && a.outTTY:
		_, err := fmt.Fprint(a.out, clean(d.Body))
		return err
	case o.raw:
		_, err := fmt.Fprint(a.out, d.Body)
		return err
	}
	a.printPage(d)
	if d.Body != "" {
		a.printf("\n")
	}
	a.printText("", d.Body)
	return nil
}
