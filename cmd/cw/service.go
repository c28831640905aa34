package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/proc"
	"cw/internal/service"
)

func newServiceCmd(a *app) *cobra.Command {
	return newGroupCmd("service", "The daemon as a service of yours: at every login",
		newServiceInstallCmd(a, nil), newServiceRemoveCmd(a, nil), newServiceStatusCmd(a, nil))
}

// serviceOptions say which daemon a service of this user runs: this program,
// with the PATH of this shell, in which agents' CLIs are found.
func (a *app) serviceOptions(home cw.Home) (service.Options, error) {
	binary, err := os.Executable()
	if err != nil {
		return service.Options{}, fmt.Errorf("find this program: %w", err)
	}
	user, err := a.abs(a.env["HOME"])
	if err != nil {
		return service.Options{}, err
	}
	return service.Options{
		OS: runtime.GOOS, Home: home, UserHome: user, Config: a.env["XDG_CONFIG_HOME"], UID: os.Getuid(),
		Binary: binary, Path: a.env["PATH"], Temp: os.TempDir(),
		Run: func(ctx context.Context, argv ...string) (string, error) {
			said, trouble, code, err := proc.Output(ctx, proc.Command{Argv: argv, Env: a.env.list()})
			if err == nil && code != 0 {
				err = fmt.Errorf("exit code %d", code)
			}
			return string(said) + string(trouble), err
		},
	}, nil
}

// aService does something with the service of this home, which agents may not.
func (a *app) aService(ctx context.Context, act func(context.Context, service.Options) (service.State, error)) (service.State, error) {
	home, err := a.home()
	if err != nil {
		return service.State{}, err
	}
	if a.inside(home) {
		return service.State{}, cw.Errorf(cw.CodeRefused, "an agent has no part in the service").WithHint("a person sees to it, outside of the run")
	}
	o, err := a.service(home)
	if err != nil {
		return service.State{}, err
	}
	return act(ctx, o)
}

// printService shows how the service is.
func (a *app) printService(s service.State) {
	state := "not installed"
	switch {
	case s.Foreign:
		state = "something else has its name"
	case s.Installed && s.Running:
		state = "installed, and runs"
	case s.Installed:
		state = "installed, and does not run"
	}
	lingers := ""
	if s.Installed {
		lingers = "the service ends"
		if s.Lingers {
			lingers = "it goes on"
		}
	}
	facts(a.out, "", [][2]string{
		{"service", fmt.Sprintf("%s (%s)", state, oneLine(s.Manager))},
		{"name", oneLine(s.Name)},
		{"file", oneLine(s.File)},
		{"after a logout", lingers},
		{"trouble", oneLine(s.Trouble)},
	})
	if s.Hint != "" {
		a.note("hint: %s", s.Hint)
	}
}

// shown prints a state that was come to, or gives the error.
func (a *app) shown(s service.State, err error) error {
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(s)
	}
	a.printService(s)
	return nil
}
