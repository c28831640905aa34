package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type phaseCreateOptions struct {
	app        *app
	initiative string
	name       string
	body       optionalText
	dependsOn  []string
}

func newPhaseCreateCmd(a *app, runF func(context.Context, *phaseCreateOptions) error) *cobra.Command {
	opts := &phaseCreateOptions{app: a}
	cmd := &cobra.Command{
		Use:               "create INITIATIVE NAME",
		Short:             "Make a phase as the last one",
		Long:              "Make a phase as the last one of an initiative. It is approved: you ask for it.",
		Example:           "cw phase create spring-sale \"Price rules\" --body rules.md\ncw phase create spring-sale \"Shop window\" --depends-on k3v7q2mzt5ha",
		Args:              initiativeAnd(&opts.initiative, &opts.name, "a name"),
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, phaseCreateRun, opts),
	}
	hyphensBehind(cmd, "a name", `spring-sale -- "-v for all"`)
	bodyFlag(cmd.Flags(), &opts.body)
	cmd.Flags().StringSliceVar(&opts.dependsOn, "depends-on", nil, "the `ID` of a phase that comes before it, or several with commas")
	return cmd
}

func phaseCreateRun(ctx context.Context, o *phaseCreateOptions) error {
	a := o.app
	body, err := a.body(o.body)
	if err != nil {
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	ph, err := svc.CreatePhase(ctx, cw.CreatePhaseRequest{
		Initiative: o.initiative, Name: o.name, Body: orText(body), DependsOn: ids[cw.PhaseID](o.dependsOn),
	})
	if err != nil {
		return hintNear(ctx, svc, err, nounInitiative, o.initiative)
	}
	if a.json {
		return a.printJSON(ph)
	}
	a.printPhase(ph)
	a.note(`next: cw task create --phase %s "WHAT IS TO BE DONE"`, ph.ID)
	return nil
}
