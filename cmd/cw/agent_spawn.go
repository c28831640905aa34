package main

import (
	"context"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

type agentSpawnOptions struct {
	app *app
	spawnFlags
	projects                []string
	initiative, phase, task string
}

func newAgentSpawnCmd(a *app, runF func(context.Context, *agentSpawnOptions) error) *cobra.Command {
	opts := &agentSpawnOptions{app: a}
	cmd := &cobra.Command{
		Use:   "spawn [GOAL]",
		Short: "Start an agent and return",
		Long: `Start an agent, print its name and its id, and return once it runs. Without
--project it works in a folder of its own that belongs to no repository.

With --task, --phase or --initiative it works for these, in the repositories of
the initiative, and needs no goal: they say what is to be done.`,
		Example: `cw agent spawn --project . "make the tests of the parser pass"
cw agent spawn --project site --name brave-otter --prompt-file goal.md
cw agent spawn --task p7dmw4s2cx5e
cw agent spawn --mode discuss --initiative spring-sale`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := noEmptyFlags(cmd, "initiative", "phase", "task"); err != nil {
				return err
			}
			return anyArgs(&opts.words)(cmd, args)
		},
		RunE: start(a, runF, agentSpawnRun, opts),
	}
	opts.define(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&opts.projects, "project", nil, "a repository to work in: `PROJECT` is a name, an id, a path or a URL; may be repeated")
	fl.StringVar(&opts.initiative, "initiative", "", "the `INITIATIVE` it works for: its slug or id (default: that of the phase or task)")
	fl.StringVar(&opts.phase, "phase", "", "the phase `ID` it works on (default: that of the task)")
	fl.StringVar(&opts.task, "task", "", "the task `ID` it does")
	return cmd
}

func agentSpawnRun(ctx context.Context, o *agentSpawnOptions) error {
	a := o.app
	o.goalless = o.initiative != "" || o.phase != "" || o.task != "" || cw.Mode(o.mode) != cw.ModeExecute
	req, err := o.request(ctx, a)
	if err != nil {
		return err
	}
	for _, ref := range o.projects {
		project, err := a.projectRef(ref)
		if err != nil {
			return err
		}
		req.Projects = append(req.Projects, project)
	}
	req.InitiativeID, req.PhaseID, req.TaskID = cw.InitiativeID(o.initiative), cw.PhaseID(o.phase), cw.TaskID(o.task)
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agent, err := a.spawn(ctx, svc, req)
	if err != nil {
		return hintNamed(ctx, svc, err, o.initiative, o.phase, o.task)
	}
	if a.json {
		return a.printJSON(agent)
	}
	a.printf("%s  %s\n", agent.Alias, agent.ID)
	for _, w := range agent.Warnings {
		a.note("warning: %s", w)
	}
	return nil
}
