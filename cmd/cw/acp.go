package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/acp"
)

type acpOptions struct {
	app     *app
	cwd     string
	resume  string
	model   string
	mode    string
	servers string
	argv    []string
}

// newACPCmd makes the command that stands between a run and an agent that
// speaks the Agent Client Protocol. A run starts it, people do not.
func newACPCmd(a *app, runF func(context.Context, *acpOptions) error) *cobra.Command {
	opts := &acpOptions{app: a}
	cmd := &cobra.Command{
		Use:   "acp [flags] -- COMMAND [ARGS]",
		Short: "Let an agent do one turn over the Agent Client Protocol",
		Long: `Starts an agent that speaks the Agent Client Protocol, sends it the prompt that
stdin holds, grants what it asks for, and prints what it says as JSON lines. The
agent is ended with the turn.`,
		Hidden: true,
		Args:   anyArgs(&opts.argv),
		RunE:   start(a, runF, acpRun, opts),
	}
	cmd.Flags().SetInterspersed(false) // the agent's own flags are not ours
	cmd.Flags().StringVar(&opts.cwd, "cwd", "", "working directory of the agent and of its session `DIR` (default: this one)")
	cmd.Flags().StringVar(&opts.resume, "resume", "", "go on with the `SESSION`")
	cmd.Flags().StringVar(&opts.model, "model", "", "model of the session, for agents that are told over the protocol: `MODEL`")
	cmd.Flags().StringVar(&opts.mode, "mode", "", "mode of the session, in the agent's words: `MODE`")
	cmd.Flags().StringVar(&opts.servers, "mcp", "", "`FILE` of MCP servers: {\"mcpServers\":{…}}")
	return cmd
}

// acpRun exits with 0 after a result, 1 after an error, 130 when it was
// cancelled.
func acpRun(ctx context.Context, o *acpOptions) error {
	cwd, err := o.app.abs(o.cwd)
	if err != nil {
		return err
	}
	cfg := acp.Config{
		Argv: o.argv, Env: o.app.env.list(), Cwd: cwd,
		Resume: o.resume, Model: o.model, Mode: o.mode, Servers: o.servers, Version: version(),
		Prompt: o.app.in, Out: o.app.out, Err: o.app.err, Waits: acp.DefaultWaits(),
	}
	if err := cfg.Check(); err != nil {
		return err
	}
	return acp.Run(ctx, cfg)
}
