package orchestrator

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"cw/internal/cw"
)

// The steps of an opening, in order. Each may be repeated.
const (
	stepOpenIntended = "open/intended"
	stepOpenPlaced   = "open/placed"
	stepOpenStored   = "open/stored"
)

// OpenWorktree implements cw.WorktreeService.
func (o *Orchestrator) OpenWorktree(ctx context.Context, ref string) (cw.OpenedWorktree, error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.OpenedWorktree{}, err
	}
	var notes []string
	err = o.outlive(ctx, func(life context.Context) (err error) {
		notes, err = o.openAgent(life, agent.ID)
		return err
	})
	if err != nil {
		return cw.OpenedWorktree{}, err
	}
	view, err := o.Agent(ctx, string(agent.ID))
	if err != nil {
		return cw.OpenedWorktree{}, err
	}
	var until time.Time
	if view.HeldUntil != nil {
		until = *view.HeldUntil
	}
	return cw.OpenedOf(view, until, notes), nil
}

// openAgent sees to it that the places of an agent are there, and stay. Where
// they are, only that they stay is stored: who has them open says so again and
// again.
func (o *Orchestrator) openAgent(ctx context.Context, id cw.AgentID) (notes []string, err error) {
	done, err := o.turns.take(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	defer o.lookAtHolds()
	if err := o.finishOpen(ctx, id); err != nil {
		return nil, err
	}
	view, err := o.Store.AgentView(ctx, string(id))
	if err != nil {
		return nil, err
	}
	switch here := allThere(view); {
	case view.DeletedAt != nil:
		return nil, cw.Errorf(cw.CodeRefused, "agent %s is removed", view.Alias).WithHint("bring it back first: cw agent restore %s", view.Alias)
	case noFolder(view) != "":
		return nil, cw.Errorf(cw.CodeRefused, "%s is no folder, and in the place of a worktree of %s", noFolder(view), view.Alias).WithHint("move it away")
	case view.Status == cw.StatusRunning && !here:
		return nil, cw.Errorf(cw.CodeRefused, "the worktree of %s is not there any more, and the agent runs", view.Alias).
			WithHint("cw agent stop %s ends it; opening it brings the worktree back then", view.Alias)
	case view.Status.Alive() && !here:
		return nil, cw.Errorf(cw.CodeRefused, "the worktree of %s is not there, and the agent is %s", view.Alias, view.Status).
			WithHint("an agent that starts has it in a moment: try again")
	case view.Status.Alive(), here && view.HeldUntil != nil:
		return nil, o.Store.HoldWorktrees(ctx, id, o.hold(id))
	}
	op := newOp(cw.OpOpen, id)
	if err := o.Store.IntendOp(ctx, op); err != nil {
		return nil, err
	}
	o.Fail.Hit(stepOpenIntended)
	notes, err = o.open(ctx, op)
	return notes, o.orFail(ctx, op, err)
}

// allThere tells whether all places of an agent are where they belong.
func allThere(v cw.AgentView) bool {
	return there(v.AgentCwd) && !slices.ContainsFunc(v.Projects, func(t cw.AgentWorktree) bool {
		return t.State != cw.WorktreePresent || !there(t.Path)
	})
}

// noFolder gives what is in a place of an agent and no folder; "" for nothing.
func noFolder(v cw.AgentView) string {
	places := []string{v.AgentCwd}
	for _, t := range v.Projects {
		places = append(places, t.Path)
	}
	for _, place := range places {
		if info, err := os.Lstat(place); err == nil && !info.IsDir() {
			return place
		}
	}
	return ""
}

// open does what was intended. Every step may be repeated, so recovery calls it
// too. Commands of the project are not run: that is for the agent's next run.
func (o *Orchestrator) open(ctx context.Context, op cw.Op) (notes []string, err error) {
	view, err := o.Store.AgentView(ctx, string(op.AgentID))
	if err != nil {
		return nil, fmt.Errorf("read agent: %w", err)
	}
	gone := slices.ContainsFunc(view.Projects, func(t cw.AgentWorktree) bool { return t.State == cw.WorktreeRemoved })
	if gone {
		if err := o.enoughDisk(); err != nil {
			return nil, err
		}
	}
	st := cw.RunState{Agent: view.Agent, Worktrees: slices.Clone(view.Projects), Op: &op}
	opts, err := optionsOf(view.Agent)
	if err != nil {
		return nil, err
	}
	if opts.around, err = o.surroundingsOf(ctx, st); err != nil {
		return nil, err
	}
	if err := o.forgetSetUps(ctx, &st); err != nil {
		return nil, err
	}
	if notes, err = o.ensureWorktrees(ctx, &st, opts); err != nil {
		return nil, err
	}
	o.Fail.Hit(stepOpenPlaced)
	in := cw.Opening{AgentID: view.ID, OpID: op.ID, Worktrees: st.Worktrees, Until: o.hold(view.ID), CleanUp: gone}
	if err := o.Store.OpenWorktrees(ctx, in); err != nil {
		return nil, fmt.Errorf("store the opening: %w", err)
	}
	o.Fail.Hit(stepOpenStored)
	o.Log.Info("worktree opened", "agent", view.Alias, "again", gone)
	o.bell.Ring(view.ID)
	o.lookAtHolds()
	return notes, nil
}
