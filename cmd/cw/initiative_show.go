package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type initiativeShowOptions struct {
	app   *app
	ref   string
	graph bool
}

func newInitiativeShowCmd(a *app, runF func(context.Context, *initiativeShowOptions) error) *cobra.Command {
	opts := &initiativeShowOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show INITIATIVE",
		Short: "Draw an initiative as a tree: its pages, phases and tasks",
		Long: `Draw an initiative as a tree: its pages, and its phases with their tasks, where
each stands and what comes before it. With --graph it is a Mermaid diagram, which
many viewers of Markdown draw.`,
		Example: "cw initiative show spring-sale\ncw initiative show spring-sale --graph > plan.mmd",
		Args:    oneArg(&opts.ref, initiativeWhat),
		RunE:    start(a, runF, initiativeShowRun, opts),
	}
	cmd.Flags().BoolVar(&opts.graph, "graph", false, "print phases, tasks and what they depend on as a Mermaid diagram")
	return cmd
}

func initiativeShowRun(ctx context.Context, o *initiativeShowOptions) error {
	a := o.app
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.Initiative(ctx, o.ref)
	switch {
	case err != nil:
		return hintNear(ctx, svc, err, nounInitiative, o.ref)
	case o.graph && a.json:
		return a.printJSON(map[string]string{"graph": mermaid(v)})
	case o.graph:
		_, err := fmt.Fprint(a.out, mermaid(v))
		return err
	case a.json:
		return a.printJSON(v)
	}
	a.printInitiativeView(v)
	return nil
}

func (a *app) printInitiativeView(v cw.InitiativeView) {
	p := a.paint(a.outTTY)
	open := ""
	if v.OpenProposals > 0 {
		open = fmt.Sprintf("%d: cw proposal list --initiative %s", v.OpenProposals, cw.ShellWord(oneLine(v.Slug)))
	}
	a.printInitiative(v.Initiative, [2]string{"open proposals", open})
	a.printText("goal", v.Goal)
	if len(v.Pages) > 0 {
		a.printf("\n%s\n", p.bold("pages"))
		printTree(a.out, p, pageTree(v.Pages))
	}
	if len(v.Phases) == 0 && v.Status == cw.InitiativeActive {
		a.note(`no phases yet: cw initiative run %[1]s walks from the goal to tasks, cw phase create %[1]s "NAME" makes one`, cw.ShellWord(oneLine(v.Slug)))
	}
	if len(v.Phases) == 0 {
		return
	}
	a.printf("\n%s\n", p.bold("phases and tasks"))
	printTree(a.out, p, phaseTree(v.Phases, v.Tasks))
}
