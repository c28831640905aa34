package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/daemon"
)

type configSetOptions struct {
	app        *app
	key, value string
}

func newConfigSetCmd(a *app, runF func(context.Context, *configSetOptions) error) *cobra.Command {
	opts := &configSetOptions{app: a}
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one setting in config.yaml",
		Long: `Change one setting in config.yaml. All other lines stay as they are, and nothing
is written unless the whole file is good afterwards. The items of a list have
commas between them; where an item holds one, give the list as JSON. A running
daemon has the new value after cw restart.`,
		Example: "cw config set http.address 127.0.0.1:7420\ncw config set http.allowedOrigins http://127.0.0.1:5173,http://localhost:5173",
		Args:    twoArgs(&opts.key, &opts.value, "the name of a setting and its value"),
		RunE:    start(a, runF, configSetRun, opts),
	}
}

func configSetRun(ctx context.Context, o *configSetOptions) error {
	a := o.app
	from, err := a.configSources()
	if err != nil {
		return err
	}
	if err := a.mayConfigure(from.Home); err != nil {
		return err
	}
	if err := daemon.SetConfig(from.Home, o.key, o.value); err != nil {
		return err
	}
	return a.configured(ctx, from, o.key)
}
