package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type phaseShowOptions struct {
	app *app
	id  string
}

func newPhaseShowCmd(a *app, runF func(context.Context, *phaseShowOptions) error) *cobra.Command {
	opts := &phaseShowOptions{app: a}
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a phase and its tasks",
		Args:  oneArg(&opts.id, phaseWhat),
		RunE:  start(a, runF, phaseShowRun, opts),
	}
}

func phaseShowRun(ctx context.Context, o *phaseShowOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	ph, err := svc.Phase(ctx, cw.PhaseID(o.id))
	if err != nil {
		return hintNear(ctx, svc, err, nounPhase, o.id)
	}
	if a.json {
		return a.printJSON(ph)
	}
	tasks, err := svc.Tasks(ctx, cw.TaskFilter{Initiative: string(ph.InitiativeID)})
	if err != nil {
		return err
	}
	a.printPhase(ph)
	if ph.Body != "" {
		a.printf("\n")
	}
	a.printText("", ph.Body)
	if all := phaseTree([]cw.Phase{ph}, tasks)[0].below; len(all) > 0 {
		p := a.paint(a.outTTY)
		a.printf("\n%s\n", p.bold("tasks"))
		printTree(a.out, p, all)
	}
	return nil
}
