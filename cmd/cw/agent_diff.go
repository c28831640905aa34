package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentDiffOptions struct {
	app *app
	ref string
	diffFlags
}

func newAgentDiffCmd(a *app, runF func(context.Context, *agentDiffOptions) error) *cobra.Command {
	opts := &agentDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff NAME [PATH...]",
		Short: "Show what an agent changed since its base",
		Long: `Show what an agent changed since its base: the patch of its commits, then the
patch of tracked files that it did not commit. What else is not committed is
named on stderr. It can be seen when its worktree is gone, too.

` + diffPathsHelp,
		Example:     "cw agent diff brave-otter\ncw agent diff brave-otter | git apply\ncw agent diff brave-otter --against head prices docs/prices.md",
		Annotations: exits("3  there is no such agent, or a PATH names nothing", "4  its work goes to no branch that it could be compared with"),
		RunE:        start(a, runF, agentDiffRun, opts),
	}
	opts.define(cmd, &opts.ref, agentWhat, "the branch of its initiative")
	return cmd
}

func agentDiffRun(ctx context.Context, o *agentDiffOptions) error {
	return o.show(ctx, o.app, func(ctx context.Context, svc cw.Services, req cw.DiffRequest) (cw.Diff, error) {
		return svc.Diff(ctx, o.ref, req)
	})
}
