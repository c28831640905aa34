package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type serveOptions struct {
	app    *app
	report string
}

func newServeCmd(a *app, runF func(context.Context, *serveOptions) error) *cobra.Command {
	opts := &serveOptions{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be the daemon, in the foreground",
		Long: `Be the daemon, in the foreground, until Ctrl-C or SIGTERM.

There is one daemon per CW_HOME. Any command that needs it starts it detached,
so this is for looking at its log, or for a service manager. Agents never
depend on it: when it ends they run on, and the next daemon adopts them.`,
		Example: "cw serve\nCW_HOME=/srv/cw cw serve",
		Args:    noArgs,
		RunE:    start(a, runF, serveRun, opts),
	}
	cmd.Flags().StringVar(&opts.report, "report", "", "started detached: leave word in this `FILE` when it cannot serve")
	_ = cmd.Flags().MarkHidden("report") // the flag was defined the line before
	return cmd
}

func serveRun(ctx context.Context, o *serveOptions) error {
	home, err := o.app.home()
	if err != nil {
		return err
	}
	if o.app.inside(home) {
		return cw.Errorf(cw.CodeRefused, "an agent cannot start a daemon: it would end with the agent").
			WithHint("a person starts it outside of the run")
	}
	var terminal io.Writer
	if o.report == "" {
		terminal = o.app.err
	}
	err = o.app.serve(ctx, home, terminal)
	if err != nil && o.report != "" {
		// When the report cannot be written, the log still has the error.
		_ = writeStartReport(o.report, explain(ctx, err, true))
	}
	return err
}

// serveHome is the daemon itself. Its log goes to daemon.log, and to a
// terminal when there is one.
func (a *app) serveHome(ctx context.Context, home cw.Home, terminal io.Writer) error {
	return daemon.Serve(ctx, daemon.Config{
		Home: home, Version: version(), Settings: daemon.DefaultSettings(), Stderr: terminal, Environ: a.env.list(),
	})
}
