package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/daemon"
)

// configShown is how much of a value is shown on a terminal, in characters; cw
// config get shows all of it.
const configShown = 40

type configShowOptions struct{ app *app }

func newConfigShowCmd(a *app, runF func(context.Context, *configShowOptions) error) *cobra.Command {
	opts := &configShowOptions{app: a}
	return &cobra.Command{
		Use:   "show",
		Short: "Show all settings, and where each comes from",
		Long: `Show all settings as a daemon that is started here would have them: from the
environment (CW_CONFIG_…), from config.yaml in CW_HOME, or by default. No daemon
is asked: one that runs has those of its start.`,
		Args: noArgs,
		RunE: start(a, runF, configShowRun, opts),
	}
}

func configShowRun(_ context.Context, o *configShowOptions) error {
	a := o.app
	from, err := a.configSources()
	if err != nil {
		return err
	}
	values, err := daemon.ShowSettings(from)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(values)
	}
	var rows [][]string
	for _, v := range values {
		value := v.String()
		if a.outTTY {
			value = cut(oneLine(value), configShown)
		}
		rows = append(rows, []string{v.Key, value, sourceText(v)})
	}
	table(a.out, "", []string{"KEY", "VALUE", "FROM"}, rows)
	return nil
}
