package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type pageMoveOptions struct {
	app      *app
	id       string
	parent   optionalText
	position optionalNumber
}

func newPageMoveCmd(a *app, runF func(context.Context, *pageMoveOptions) error) *cobra.Command {
	opts := &pageMoveOptions{app: a}
	cmd := &cobra.Command{
		Use:     "move ID",
		Short:   "Put a page below another one, or elsewhere among its siblings",
		Example: "cw page move k3v7q2mzt5ha --parent m4w8r3nzu6jb --position 0",
		Args:    oneArg(&opts.id, pageWhat),
		RunE:    start(a, runF, pageMoveRun, opts),
	}
	cmd.Flags().Var(&opts.parent, "parent", "the `ID` of the page above from now on")
	cmd.Flags().Var(&opts.position, "position", "its place `N` among its siblings, from 0")
	return cmd
}

func pageMoveRun(ctx context.Context, o *pageMoveOptions) error {
	e := cw.PageEdit{ParentID: typed[cw.PageID](o.parent), Position: o.position.value}
	if e == (cw.PageEdit{}) {
		return usagef("where to?").WithHint("say it with --parent, --position or both")
	}
	return o.app.editPage(ctx, o.id, e)
}
