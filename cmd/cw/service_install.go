package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/service"
)

type serviceInstallOptions struct{ app *app }

func newServiceInstallCmd(a *app, runF func(context.Context, *serviceInstallOptions) error) *cobra.Command {
	opts := &serviceInstallOptions{app: a}
	return &cobra.Command{
		Use:   "install",
		Short: "Start the daemon now and at every login",
		Long: `Make a service of yours of the daemon: a unit of systemd, or a job of launchd. It
is started now and at every login, and again when it fails. A daemon that runs is
ended first; agents run on. The service has this program and the PATH of this
shell. It may be repeated, for another program or another PATH.`,
		Annotations: exits(
			"0  it is installed and started",
			"1  the service manager did not do its part",
			"4  something else has its name, or cw is where it does not stay",
		),
		Args: noArgs,
		RunE: start(a, runF, serviceInstallRun, opts),
	}
}

func serviceInstallRun(ctx context.Context, o *serviceInstallOptions) error {
	a := o.app
	s, err := a.aService(ctx, func(ctx context.Context, by service.Options) (service.State, error) {
		by.EndDaemon = a.endOther
		return service.Install(ctx, by)
	})
	if err != nil {
		return err
	}
	if err := a.shown(s, nil); err != nil || s.Running {
		return err
	}
	return cw.Errorf(cw.CodeFailed, "the service is installed, and does not run").WithHint("cw logs shows what it said; cw service status looks again")
}

// endOther ends a daemon that was started in another way.
func (a *app) endOther(ctx context.Context) error {
	was, err := a.stopDaemon(ctx)
	if err == nil && was.Stopped {
		a.note("the daemon that ran is stopped%s", runOn(was.AgentsAlive))
	}
	return err
}
