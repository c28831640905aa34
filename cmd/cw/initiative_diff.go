package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeDiffOptions struct {
	app     *app
	ref     string
	project string
	stat    bool
}

func newInitiativeDiffCmd(a *app, runF func(context.Context, *initiativeDiffOptions) error) *cobra.Command {
	opts := &initiativeDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:         "diff INITIATIVE",
		Short:       "Show what the branch of an initiative changes since it began",
		Example:     "cw initiative diff spring-sale --stat",
		Annotations: exits("4  nothing is merged yet"),
		Args:        oneArg(&opts.ref, initiativeWhat),
		RunE:        start(a, runF, initiativeDiffRun, opts),
	}
	cmd.Flags().StringVar(&opts.project, "project", "", "which `PROJECT`, when the initiative has several")
	cmd.Flags().BoolVar(&opts.stat, "stat", false, "only commits and sizes")
	return cmd
}

func initiativeDiffRun(ctx context.Context, o *initiativeDiffOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	req := cw.DiffRequest{Stat: o.stat}
	if req.Project, err = a.projectNamed(ctx, svc, o.project); err != nil {
		return err
	}
	d, err := svc.InitiativeDiff(ctx, o.ref, req)
	if err != nil {
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	}
	return a.printDiff(d, o.stat)
}
