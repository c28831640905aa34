package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeDiffOptions struct {
	app *app
	ref string
	diffFlags
}

func newInitiativeDiffCmd(a *app, runF func(context.Context, *initiativeDiffOptions) error) *cobra.Command {
	opts := &initiativeDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff INITIATIVE [PATH...]",
		Short: "Show what the branch of an initiative changes since it began",
		Long: `Show what the branch of an initiative changes since it began, or with --against head
since it parted from the branch that it began from: what is not landed yet.

` + diffPathsHelp,
		Example:     "cw initiative diff spring-sale --stat\ncw initiative diff spring-sale --against head prices",
		Annotations: exits("3  there is no such initiative, or a PATH names nothing", "4  nothing is merged yet, or it began from no branch"),
		RunE:        start(a, runF, initiativeDiffRun, opts),
	}
	opts.define(cmd, &opts.ref, initiativeWhat, "the branch that it began from")
	return cmd
}

func initiativeDiffRun(ctx context.Context, o *initiativeDiffOptions) error {
	return o.show(ctx, o.app, func(ctx context.Context, svc cw.Services, req cw.DiffRequest) (cw.Diff, error) {
		d, err := svc.InitiativeDiff(ctx, o.ref, req)
		return d, hintNear(ctx, svc, err, nounInitiative, o.ref)
	})
}
