package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentRestoreOptions struct {
	app  *app
	refs []string
}

func newAgentRestoreCmd(a *app, runF func(context.Context, *agentRestoreOptions) error) *cobra.Command {
	opts := &agentRestoreOptions{app: a}
	return &cobra.Command{
		Use:   "restore NAME...",
		Short: "Bring removed agents back",
		Long: `Bring removed agents back: worktree, branch and everything that was not
committed, from the trash or, where that is gone, from the snapshot.`,
		Example: "cw agent list --removed\ncw agent restore brave-otter",
		Annotations: exits(
			"0  it is back, or was never removed",
			"4  nothing holds it any more, or something else stands in its place",
		),
		Args: someArgs(&opts.refs, agentWhat, "cw agent list --removed shows all that are removed"),
		RunE: start(a, runF, agentRestoreRun, opts),
	}
}

func agentRestoreRun(ctx context.Context, o *agentRestoreOptions) error {
	return o.app.eachAgent(ctx, o.refs, cw.Services.Restore, o.app.printRestored)
}

func (a *app) printRestored(v cw.AgentView) {
	a.printf("%s is back, %s\n", v.Alias, v.Status)
	for _, w := range v.Projects {
		if w.State == cw.WorktreePresent {
			a.note("  %s", oneLine(w.Path))
		}
	}
	for _, warning := range v.Warnings {
		a.note("  warning: %s", warning)
	}
}
