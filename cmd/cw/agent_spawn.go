package main

import (
	"context"

	"github.com/spf13/cobra"
)

type agentSpawnOptions struct {
	app *app
	spawnFlags
	projects                []string
	initiative, phase, task string
	account                 string
}

func newAgentSpawnCmd(a *app, runF func(context.Context, *agentSpawnOptions) error) *cobra.Command {
	opts := &agentSpawnOptions{app: a}
	cmd := &cobra.Command{
		Use:   "spawn GOAL...",
		Short: "Start an agent and return",
		Long: `Start an agent, print its name and its id, and return once it runs. Without
--project it works in a folder of its own that belongs to no repository.`,
		Example: `cw agent spawn --project . "make the tests of the parser pass"
cw agent spawn --project site --name brave-otter --prompt-file goal.md`,
		Args: anyArgs(&opts.words),
		RunE: start(a, runF, agentSpawnRun, opts),
	}
	opts.define(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&opts.projects, "project", nil, "a repository to work in: `PROJECT` is a name, an id or a path; may be repeated")
	fl.StringVar(&opts.initiative, "initiative", "", "the initiative `ID` it works for (not available yet)")
	fl.StringVar(&opts.phase, "phase", "", "the phase `ID` it works for (not available yet)")
	fl.StringVar(&opts.task, "task", "", "the task `ID` it does (not available yet)")
	fl.StringVar(&opts.account, "account", "", "the `ACCOUNT` of the provider to use")
	return cmd
}

func agentSpawnRun(ctx context.Context, o *agentSpawnOptions) error {
	a := o.app
	req, err := o.request(a)
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
	req.InitiativeID, req.PhaseID, req.TaskID, req.AccountID = o.initiative, o.phase, o.task, o.account
	svc, err := a.connect(ctx)
	if err != nil {
		return err
	}
	agent, err := a.spawn(ctx, svc, req)
	if err != nil {
		return err
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
