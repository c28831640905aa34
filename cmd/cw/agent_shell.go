package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
)

type agentShellOptions struct {
	app *app
	ref string
}

func newAgentShellCmd(a *app, runF func(context.Context, *agentShellOptions) error) *cobra.Command {
	opts := &agentShellOptions{app: a}
	return &cobra.Command{
		Use:   "shell NAME",
		Short: "Start a shell in an agent's worktree",
		Long: `Start $SHELL in the worktree of an agent, brought back first when it was
cleaned up, and kept while the shell runs. Where it is is said on stderr, and
so is that the agent works there right now. The shell has your environment,
without the variables by which cw knows agents.

What you commit on the agent's branch is handed over to your repository when
the worktree is cleaned up, or at the end of the agent's next run. The project's
set-up commands are not run. An agent with several projects has a folder that
holds all its worktrees.`,
		Example: "cw agent shell brave-otter\necho 'make test' | cw agent shell brave-otter",
		Annotations: exits(
			"4  the agent is removed, or something else stands in the worktree's place",
			"N  the exit code of the shell",
		),
		Args: oneArg(&opts.ref, agentWhat),
		RunE: start(a, runF, agentShellRun, opts),
	}
}

func agentShellRun(ctx context.Context, o *agentShellOptions) error {
	a := o.app
	if a.json {
		return usagef("a shell prints no JSON").WithHint("cw agent open --print --json %s tells where the worktree is", o.ref)
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	opened, err := a.openWorktree(ctx, svc, o.ref)
	if err != nil {
		return err
	}
	return a.inWorktree(ctx, svc, opened, []string{cmp.Or(a.env["SHELL"], "/bin/sh")})
}
