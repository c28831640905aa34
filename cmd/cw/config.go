package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

func newConfigCmd(a *app) *cobra.Command {
	return newGroupCmd("config", "The settings of the daemon and of new agents",
		newConfigShowCmd(a, nil), newConfigGetCmd(a, nil), newConfigSetCmd(a, nil), newConfigUnsetCmd(a, nil), newConfigPathCmd(a, nil))
}

// configSources is what the daemon would read its settings from, were it
// started here.
func (a *app) configSources() (daemon.ConfigSources, error) {
	home, err := a.home()
	return daemon.ConfigSources{Home: home, Environ: a.env.list()}, err
}

// mayConfigure refuses agents: they cannot grant themselves anything.
func (a *app) mayConfigure(home cw.Home) error {
	if a.inside(home) {
		return cw.Errorf(cw.CodeForbidden, "an agent cannot change the configuration").
			WithHint("a person does, outside of the run")
	}
	return nil
}

// configured ends a change of the file: it tells what holds now, and what else
// has to happen before the daemon knows it.
func (a *app) configured(ctx context.Context, from daemon.ConfigSources, key string) error {
	value, err := daemon.GetConfig(from, key)
	if err != nil {
		return err
	}
	if variable := daemon.Overridden(from.Environ, key); variable != "" {
		a.note("warning: %s is set here, and is stronger than the file", variable)
	}
	if _, err := a.reach(ctx); err == nil || a.holder(from.Home) != 0 {
		a.note("the daemon still has its old settings: cw restart; agents run on")
	}
	if a.json {
		return a.printJSON(value)
	}
	a.printf("%s = %s (%s)\n", value.Key, cmp.Or(oneLine(value.String()), "-"), sourceText(value))
	return nil
}

// sourceText says where a value comes from.
func sourceText(v daemon.ConfigValue) string {
	if v.Where == "" {
		return string(v.Source)
	}
	return oneLine(v.Where)
}

// twoArgs puts two arguments into the options. The second may be empty.
func twoArgs(first, second *string, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 || args[0] == "" {
			return usagef("%s needs %s", title(cmd), what).WithHint("usage: %s", cmd.UseLine())
		}
		*first, *second = args[0], args[1]
		return nil
	}
}
