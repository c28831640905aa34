package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type promptShowOptions struct {
	app                     *app
	mode                    string
	initiative, phase, task string
	projects                []string
	provider                string
	goal                    optionalText
	blocks                  bool
}

func newPromptShowCmd(a *app, runF func(context.Context, *promptShowOptions) error) *cobra.Command {
	opts := &promptShowOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show MODE",
		Short: "Print exactly what an agent would be told",
		Long: `Print exactly what an agent with this mode would be told. Nothing is made for it:
only the agent's own id and name are not known before it is there. The modes are
` + commaList(cw.Modes()) + `; all but execute need an initiative, or a
phase or task of one.`,
		Example: `cw prompt show plan --initiative spring-sale
cw prompt show execute --task k3v7q2mzt5ha --blocks
cw prompt show execute --project . --goal "make the tests of the parser pass"`,
		ValidArgs: texts(cw.Modes()),
		Args: func(cmd *cobra.Command, args []string) error {
			if err := noEmptyFlags(cmd, "initiative", "phase", "task", "provider"); err != nil {
				return err
			}
			return oneArg(&opts.mode, "a mode: "+commaList(cw.Modes()))(cmd, args)
		},
		RunE: start(a, runF, promptShowRun, opts),
	}
	fl := cmd.Flags()
	fl.StringVar(&opts.initiative, "initiative", "", "the `INITIATIVE` it would work for: its slug or id (default: that of the phase or task)")
	fl.StringVar(&opts.phase, "phase", "", "the phase `ID` it would work on")
	fl.StringVar(&opts.task, "task", "", "the task `ID` it would do")
	fl.StringArrayVar(&opts.projects, "project", nil, "a `PROJECT` it would work in: a name, an id or a path; may be repeated (default: those of the initiative)")
	fl.StringVar(&opts.provider, "provider", "", "the `NAME` of the provider whose CLI it would run (default: as for a new agent)")
	fl.Var(&opts.goal, "goal", "what it would be asked to do: a `TEXT`; - reads it from stdin")
	fl.BoolVar(&opts.blocks, "blocks", false, "print a table of its blocks instead: where each is from and how long it is")
	return cmd
}

func promptShowRun(ctx context.Context, o *promptShowOptions) error {
	a := o.app
	goal, err := a.goalText(o.goal)
	if err != nil {
		return err
	}
	req := cw.PromptRequest{
		Mode: cw.Mode(o.mode), Initiative: o.initiative, PhaseID: cw.PhaseID(o.phase), TaskID: cw.TaskID(o.task),
		Provider: o.provider, Goal: orText(goal),
	}
	if req.Projects, err = a.projectRefs(o.projects); err != nil {
		return err
	}
	if err := req.Check(); err != nil { // before a daemon is started for it
		return err
	}
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	v, err := svc.Prompt(ctx, req)
	switch {
	case err != nil:
		return hintNamed(ctx, svc, err, o.initiative, o.phase, o.task)
	case a.json:
		return a.printJSON(v)
	case o.blocks:
		a.printPromptBlocks(v)
		return nil
	case a.outTTY:
		_, err := fmt.Fprint(a.out, clean(v.Text))
		return err
	}
	_, err = fmt.Fprint(a.out, v.Text)
	return err
}
