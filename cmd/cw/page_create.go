package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type pageCreateOptions struct {
	app        *app
	initiative string
	title      string
	parent     string
	body       optionalText
}

func newPageCreateCmd(a *app, runF func(context.Context, *pageCreateOptions) error) *cobra.Command {
	opts := &pageCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:               "create INITIATIVE TITLE",
		Short:             "Make a page",
		Example:           `cw page create spring-sale "How prices are rounded" --body rounding.md`,
		Args:              initiativeAnd(&opts.initiative, &opts.title, "a title"),
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, pageCreateRun, opts),
	}
	hyphensBehind(cmd, "a title", `spring-sale -- "-v for all"`)
	cmd.Flags().StringVar(&opts.parent, "parent", "", "the `ID` of the page above (default: the initiative's first page)")
	bodyFlag(cmd.Flags(), &opts.body)
	return cmd
}

func pageCreateRun(ctx context.Context, o *pageCreateOptions) error {
	a := o.app
	body, err := a.body(o.body)
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	d, err := svc.CreatePage(ctx, cw.CreatePageRequest{
		Initiative: o.initiative, ParentID: cw.PageID(o.parent), Title: o.title, Body: orText(body),
	})
	if err != nil {
		err = hintNear(ctx, svc, err, nounInitiative, o.initiative)
		if o.parent != "" {
			err = hintNear(ctx, svc, err, nounPage, o.parent)
		}
		return err
	}
	if a.json {
		return a.printJSON(d)
	}
	a.printPage(d)
	return nil
}
