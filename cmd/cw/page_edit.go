package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type pageEditOptions struct {
	app      *app
	id       string
	title    optionalText
	body     optionalText
	revision int
}

func newPageEditCmd(a *app, runF func(context.Context, *pageEditOptions) error) *cobra.Command {
	opts := &pageEditOptions{app: a}
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change the title or the text of a page",
		Long: `Change a page. With --revision, which is the one that you have edited, a page that
has changed since is left as it is.`,
		Example: `cw page show k3v7q2mzt5ha --raw > page.md
cw page edit k3v7q2mzt5ha --body page.md --revision 3`,
		Annotations: exits("4  it changed since --revision, or its initiative is archived"),
		Args:        oneArg(&opts.id, pageWhat),
		RunE:        start(a, runF, pageEditRun, opts),
	}
	fl := cmd.Flags()
	fl.Var(&opts.title, "title", "its heading from now on: a `TITLE`")
	bodyFlag(fl, &opts.body)
	fl.IntVar(&opts.revision, "revision", 0, "change it only while it is at revision `N` (default: whatever it is)")
	return cmd
}

func pageEditRun(ctx context.Context, o *pageEditOptions) error {
	if o.title.value == nil && o.body.value == nil {
		return errNothingToChange("--title, --body; cw page move moves it")
	}
	if o.revision < 0 {
		return usagef("there is no revision %d", o.revision).WithHint("the first is 1; leave --revision out for whatever it is")
	}
	body, err := o.app.body(o.body)
	if err != nil {
		return err
	}
	return o.app.editPage(ctx, o.id, cw.PageEdit{Title: o.title.value, Body: body, Revision: o.revision})
}

// editPage changes a page and shows it.
func (a *app) editPage(ctx context.Context, id string, e cw.PageEdit) error {
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	d, err := svc.EditPage(ctx, cw.PageID(id), e)
	if err != nil {
		if e.ParentID != nil {
			err = hintNear(ctx, svc, err, nounPage, string(*e.ParentID))
		}
		return hintNear(ctx, svc, err, nounPage, id)
	}
	if a.json {
		return a.printJSON(d)
	}
	a.printPage(d)
	return nil
}
