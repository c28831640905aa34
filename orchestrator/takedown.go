package orchestrator

import (
	"context"
	"fmt"
	"time"

	"cw/internal/cw"
)

// takeDownMax bounds each teardown command: what goes must not be kept for long.
const takeDownMax = 5 * time.Minute

// takeDown runs a project's teardown commands in a worktree that is about to go,
// when it was set up. It is done at best: what fails is a warning, and the
// worktree goes all the same. It tells whether the worktree is taken down; the
// same operation again does not repeat what was done.
func (o *Orchestrator) takeDown(ctx context.Context, a cw.Agent, t cw.AgentWorktree, op cw.OpID) (done bool, err error) {
	if !t.SetUp || !there(t.Path) {
		return false, nil
	}
	p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
	if err != nil {
		return false, fmt.Errorf("find project %s: %w", t.Project, err)
	}
	view, err := o.ProjectFileAt(ctx, p, t.BaseCommit)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil || !view.Trusted || len(view.File.Teardown) == 0 {
		return false, nil // nothing may be run: whatever the reason, the worktree goes
	}
	env, err := o.commandVariables(ctx, t, view.File)
	if err != nil {
		return false, err
	}
	opts, err := optionsOf(a)
	if err != nil {
		return false, err
	}
	run := cw.CommandRun{
		ID: setUpID(cw.RunID(op), t.ProjectID, "teardown"), Kind: cw.RunSetup, AgentID: a.ID, Alias: a.Alias, Dir: t.Path, Env: env, Caller: o.keptEnv(opts.Env),
	}
	for _, c := range view.File.Teardown {
		c.Timeout = min(c.Timeout, takeDownMax)
		run.Commands = append(run.Commands, c)
	}
	over := o.Repos.SettingUp(ctx, p)
	defer over()
	result, err := o.RunCommands(ctx, run)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	switch {
	case err != nil:
		err = o.warn(ctx, a, fmt.Sprintf("the teardown of %s could not be run: %v", t.Project, err))
	case !result.OK:
		err = o.warn(ctx, a, fmt.Sprintf("the teardown of %s failed: %q: %s; its output is in %s", t.Project, result.Failed, result.Reason, result.LogPath))
	}
	return true, err
}
