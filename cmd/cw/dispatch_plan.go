package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type dispatchPlanOptions struct {
	app *app
	ref string
}

func newDispatchPlanCmd(a *app, runF func(context.Context, *dispatchPlanOptions) error) *cobra.Command {
	opts := &dispatchPlanOptions{app: a}
	return &cobra.Command{
		Use:   "plan INITIATIVE",
		Short: "Tell in which order tasks would be started, and when all are done",
		Long: `Tell in which order the tasks of an initiative would be started and merged, if every
task took as long as such tasks took so far, and nothing failed. Tasks that would
never be started are named with their reason. Nothing is started by this.`,
		Example:           "cw dispatch plan spring-sale",
		Args:              oneArg(&opts.ref, initiativeWhat),
		ValidArgsFunction: completeInitiatives(a, false),
		RunE:              start(a, runF, dispatchPlanRun, opts),
	}
}

func dispatchPlanRun(ctx context.Context, o *dispatchPlanOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	plan, err := svc.DispatchPlan(ctx, o.ref)
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	case a.json:
		return a.printJSON(plan)
	}
	a.printDispatchPlan(plan)
	return nil
}

func (a *app) printDispatchPlan(plan cw.DispatchPlan) {
	p := a.paint(a.outTTY)
	if len(plan.Steps)+len(plan.Waiting) == 0 {
		a.note("no task of %s is to be done", oneLine(plan.Initiative.Slug))
		return
	}
	facts(a.out, "", [][2]string{
		{"initiative", oneLine(plan.Initiative.Slug)},
		{"all done", a.finishFact(p, plan)},
		{"times are", oneLine(plan.Estimate)},
	})
	if len(plan.Steps) > 0 {
		a.printf("\n%s\n", p.bold("in this order"))
		a.printDispatchSteps(plan.Steps)
	}
	if len(plan.Waiting) > 0 {
		a.printf("\n%s\n", p.bold("never, as things are"))
		a.printWaiting(plan.Waiting, false)
	}
}

// finishFact says when everything is done, or that some of it never is.
func (a *app) finishFact(p paint, plan cw.DispatchPlan) string {
	if plan.Finish == nil {
		return p.yellow("never, as things are") + fmt.Sprintf(": %s would not be started", count(len(plan.Waiting), "task"))
	}
	return fmt.Sprintf("%s, in %s", clock(*plan.Finish), elapsed(plan.Finish.Sub(a.now())))
}

func (a *app) printDispatchSteps(steps []cw.DispatchStep) {
	header := []string{"START", "DONE", "ID", "PRIORITY", "TASK"}
	var rows [][]string
	for _, s := range steps {
		start := "now"
		if s.Start.After(a.now()) {
			start = clock(s.Start)
		}
		rows = append(rows, []string{start, clock(s.Finish), string(s.ID), string(s.Priority), cut(oneLine(s.Name), titleMax)})
	}
	if a.outTTY {
		header, rows = narrow(header, rows, a.width()-columnGap, "PRIORITY", "DONE")
	}
	table(a.out, "  ", header, rows)
}
