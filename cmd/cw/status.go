package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type statusOptions struct{ app *app }

func newStatusCmd(a *app, runF func(context.Context, *statusOptions) error) *cobra.Command {
	opts := &statusOptions{app: a}
	return &cobra.Command{
		Use:         "status",
		Short:       "Tell how the daemon is",
		Long:        "Tell how the daemon is. It is not started for that.",
		Annotations: exits("0  the daemon answers", "5  it does not run, or does not answer"),
		Args:        noArgs,
		RunE:        start(a, runF, statusRun, opts),
	}
}

func statusRun(ctx context.Context, o *statusOptions) error {
	a := o.app
	svc, err := a.reach(ctx)
	if absent(err) {
		home, homeErr := a.home()
		if homeErr != nil {
			return homeErr
		}
		if pid := a.holder(home); pid != 0 {
			return notReached(home, pid)
		}
		return cw.Errorf(cw.CodeUnreachable, "the daemon is not running").
			WithHint("any command that needs it starts it, and so does cw serve in the foreground")
	}
	if err != nil {
		return err
	}
	s, err := svc.Status(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(s)
	}
	a.printStatus(s)
	return nil
}

func (a *app) printStatus(s cw.DaemonStatus) {
	facts(a.out, "", [][2]string{
		{"daemon", fmt.Sprintf("runs with pid %d for %s", s.PID, elapsed(a.now().Sub(s.StartedAt)))},
		{"version", s.Version + bracketed("API "+s.APIVersion)},
		{"home", s.Home},
		{"socket", s.Socket},
		{"http", s.HTTP},
		{"agents", fmt.Sprintf("%d alive of %d", s.AgentsAlive, s.Agents)},
		{"projects", fmt.Sprint(s.Projects)},
		{"disk", fmt.Sprintf("%s database, %s output, %s free", size(s.DatabaseBytes), size(s.LogBytes), size(s.FreeBytes))},
	})
}
