package main

import (
	"context"

	"github.com/spf13/cobra"
)

type configPathOptions struct{ app *app }

func newConfigPathCmd(a *app, runF func(context.Context, *configPathOptions) error) *cobra.Command {
	opts := &configPathOptions{app: a}
	return &cobra.Command{
		Use:   "path",
		Short: "Tell where config.yaml is",
		Long:  "Tell where config.yaml is, or would be: cw does without it.",
		Args:  noArgs,
		RunE:  start(a, runF, configPathRun, opts),
	}
}

func configPathRun(_ context.Context, o *configPathOptions) error {
	home, err := o.app.home()
	if err != nil {
		return err
	}
	if o.app.json {
		return o.app.printJSON(home.Config())
	}
	o.app.printf("%s\n", home.Config())
	return nil
}
