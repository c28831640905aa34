package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/daemon"
)

type configGetOptions struct {
	app *app
	key string
}

func newConfigGetCmd(a *app, runF func(context.Context, *configGetOptions) error) *cobra.Command {
	opts := &configGetOptions{app: a}
	return &cobra.Command{
		Use:     "get KEY",
		Short:   "Show the value of one setting",
		Example: "cw config get http.address",
		Args:    oneArg(&opts.key, "the name of a setting"),
		RunE:    start(a, runF, configGetRun, opts),
	}
}

func configGetRun(_ context.Context, o *configGetOptions) error {
	from, err := o.app.configSources()
	if err != nil {
		return err
	}
	value, err := daemon.GetConfig(from, o.key)
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(value)
	}
	o.app.printf("%s\n", oneLine(value.String()))
	return nil
}
