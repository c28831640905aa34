package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
	"cw/internal/daemon"
)

type doctorOptions struct{ app *app }

func newDoctorCmd(a *app, runF func(context.Context, *doctorOptions) error) *cobra.Command {
	opts := &doctorOptions{app: a}
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look what is there and what is missing",
		Long: `Look at git, the provider CLIs, CW_HOME and your files in it, the daemon, the disk
and the limits of this machine, and say what to do about what is missing. Nothing
is changed and no daemon is started.`,
		Annotations: exits("0  nothing is missing that cw needs", "1  a check failed"),
		Args:        noArgs,
		RunE:        start(a, runF, doctorRun, opts),
	}
}

func doctorRun(ctx context.Context, o *doctorOptions) error {
	a := o.app
	home, err := a.home()
	if err != nil {
		return err
	}
	checks := a.examine(ctx, home)
	failed := 0
	for _, c := range checks {
		if c.Status == daemon.CheckFail {
			failed++
		}
	}
	if a.json {
		if checks == nil {
			checks = []daemon.Check{}
		}
		err = a.printJSON(checks)
	} else {
		a.printChecks(checks)
	}
	if err == nil && failed > 0 {
		return cw.Errorf(cw.CodeFailed, "%s failed", count(failed, "check")).
			WithHint("do what is said beside them, then run cw doctor again")
	}
	return err
}

func (a *app) printChecks(checks []daemon.Check) {
	p := a.paint(a.outTTY)
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		mark := fmt.Sprintf("%-4s", c.Status)
		switch c.Status {
		case daemon.CheckOK:
			mark = p.green(mark)
		case daemon.CheckWarn:
			mark = p.yellow(mark)
		case daemon.CheckFail:
			mark = p.red(mark)
		}
		a.printf("%s  %-*s  %s\n", mark, width, oneLine(c.Name), oneLine(c.Detail))
		if c.Fix != "" {
			a.printf("%*s%s\n", width+8, "", p.bold(oneLine(c.Fix)))
		}
	}
}
