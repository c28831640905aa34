package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type phaseListOptions struct {
	app        *app
	initiative string
}

func newPhaseListCmd(a *app, runF func(context.Context, *phaseListOptions) error) *cobra.Command {
	opts := &phaseListOptions{app: a}
	return &cobra.Command{
		Use:               "list INITIATIVE",
		Aliases:           []string{"ls"},
		Short:             "List the phases of an initiative in order, archived ones too",
		Args:              oneArg(&opts.initiative, initiativeWhat),
		ValidArgsFunction: completeInitiatives(a, true),
		RunE:              start(a, runF, phaseListRun, opts),
	}
}

func phaseListRun(ctx context.Context, o *phaseListOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	phases, err := svc.Phases(ctx, o.initiative)
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.initiative)
	case a.json:
		return a.printJSON(append([]cw.Phase{}, phases...))
	case len(phases) == 0:
		a.note(`no phases yet: cw phase create %s "NAME"`, cw.ShellWord(o.initiative))
		return nil
	}
	printTree(a.out, a.paint(a.outTTY), phaseTree(phases, nil))
	return nil
}
