package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/api"
	"cw/internal/cw"
	"cw/internal/mcp"
)

type mcpOptions struct {
	app    *app
	socket string
}

// newMCPCmd makes the tool server of an agent.
func newMCPCmd(a *app, runF func(context.Context, *mcpOptions) error) *cobra.Command {
	opts := &mcpOptions{app: a}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer an agent's CLI the tools of cw",
		Long: `Offer an agent's CLI the tools of cw, over stdio, in the Model Context Protocol:
ask people, keep a plan, talk to other agents, leave the signal. CLIs start it by
themselves, inside a run. Which tools there are is decided by the rights of that
run: outside of one there are none. It ends when its input ends.`,
		Example: "cw mcp",
		Args:    noArgs,
		RunE:    start(a, runF, mcpRun, opts),
	}
	cmd.Flags().StringVar(&opts.socket, "socket", "", "where the daemon is reached: `PATH`; default: CW_SOCKET, else that of the home")
	return cmd
}

func mcpRun(ctx context.Context, o *mcpOptions) error {
	socket, err := o.where()
	if err != nil {
		return err
	}
	// A daemon is never started: one that ends with the agent helps nobody.
	client := api.NewClient(api.ClientOptions{Socket: socket, Token: o.app.env["CW_TOKEN"]})
	return mcp.Serve(ctx, toolServices(client, version()), o.app.in, o.app.out)
}

// where is the daemon's socket.
func (o *mcpOptions) where() (string, error) {
	if o.socket != "" {
		return o.socket, nil
	}
	if socket := o.app.env["CW_SOCKET"]; socket != "" {
		return socket, nil
	}
	home, err := o.app.home()
	return home.Socket(), err
}

// toolServices gives the tool server what it may call.
func toolServices(s cw.Services, version string) mcp.Config {
	return mcp.Config{Toolbox: s, Agents: s, People: s, Planning: s, Plans: s, Talk: s, Messages: s, Version: version}
}
