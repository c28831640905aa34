package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/daemon"
)

type configUnsetOptions struct {
	app *app
	key string
}

func newConfigUnsetCmd(a *app, runF func(context.Context, *configUnsetOptions) error) *cobra.Command {
	opts := &configUnsetOptions{app: a}
	return &cobra.Command{
		Use:   "unset KEY",
		Short: "Take one setting out of config.yaml",
		Long:  "Take one setting out of config.yaml, so that its default holds again. All other\nlines stay as they are.",
		Args:  oneArg(&opts.key, "the name of a setting"),
		RunE:  start(a, runF, configUnsetRun, opts),
	}
}

func configUnsetRun(ctx context.Context, o *configUnsetOptions) error {
	a := o.app
	from, err := a.configSources()
	if err != nil {
		return err
	}
	if err := a.mayConfigure(from.Home); err != nil {
		return err
	}
	if err := daemon.UnsetConfig(from.Home, o.key); err != nil {
		return err
	}
	return a.configured(ctx, from, o.key)
}
