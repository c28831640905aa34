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
	http   string
	flags  map[string]string // settings that the command line gives
}

func newServeCmd(a *app, runF func(context.Context, *serveOptions) error) *cobra.Command {
	opts := &serveOptions{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be the daemon, in the foreground",
		Long: `Be the daemon, in the foreground, until Ctrl-C or SIGTERM.

There is one daemon per CW_HOME. Any command that needs it starts it detached,
so this is for looking at its log, or for a service manager. Agents never
depend on it: when it ends they run on, and the next daemon adopts them.

Dashboards reach it over TCP with --http, or when http.address is configured.
Only addresses of this machine are taken, and every request needs a token. A
daemon that cw restart starts knows the configuration and not this flag.`,
		Example: "cw serve\ncw serve --http 127.0.0.1:7420\nCW_HOME=/srv/cw cw serve",
		Args:    noArgs,
	}
	run := start(a, runF, serveRun, opts)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("http") { // also with nothing: no TCP, whatever is configured
			opts.flags = map[string]string{"http.address": opts.http}
		}
		return run(cmd, args)
	}
	cmd.Flags().StringVar(&opts.http, "http", "", "also listen for dashboards on this `ADDRESS` (127.0.0.1:PORT; port 0: any)")
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
	err = o.app.serve(ctx, home, o.flags, terminal)
	if err != nil && o.report != "" {
		// When the report cannot be written, the log still has the error.
		_ = writeStartReport(o.report, explain(ctx, err, true))
	}
	return err
}

// serveHome is the daemon itself, with settings that the command line gives.
// Its log goes to daemon.log, and to a terminal when there is one.
func (a *app) serveHome(ctx context.Context, home cw.Home, flags map[string]string, terminal io.Writer) error {
	settings, err := daemon.LoadSettings(daemon.ConfigSources{Home: home, Environ: a.env.list(), Flags: flags})
	if err != nil {
		return err
	}
	return daemon.Serve(ctx, daemon.Config{
		Home: home, Version: version(), Settings: settings, Stderr: terminal, Environ: a.env.list(),
		Flags: flags,
	})
}
