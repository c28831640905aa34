package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
)

// cleanUpAll does the clean-ups of an agent that are intended.
func (o *Orchestrator) cleanUpAll(ctx context.Context, agent cw.AgentID) error {
	ops, err := o.Store.OpenOps(ctx, cw.OpCleanUp)
	if err != nil {
		return fmt.Errorf("look for clean-ups: %w", err)
	}
	for _, op := range ops {
		if op.AgentID == agent {
			o.cleanUp(ctx, op)
		}
	}
	return nil
}

// cleanUp removes the worktrees of an agent whose work is all elsewhere. The
// operation was intended when the run's end was stored; a run that began since
// has closed it, and then nothing is done. It is tried until it is settled.
func (o *Orchestrator) cleanUp(ctx context.Context, op cw.Op) {
	log := o.Log.With("agent", op.AgentID, "op", op.ID)
	_ = again(ctx, log, "clean up", func(try int) error {
		return o.cleanUpOnce(ctx, op, try >= completeTries)
	}) // what ctx interrupted is taken up by the next daemon
	o.bell.Ring(op.AgentID)
}

// cleanUpOnce is one try. The last one gives up what cannot be removed: it stays
// where it is, and the agent says so.
func (o *Orchestrator) cleanUpOnce(ctx context.Context, op cw.Op, last bool) error {
	done, err := o.turns.take(ctx, op.AgentID)
	if err != nil {
		return err
	}
	defer done()
	if open, err := o.isOpen(ctx, op); err != nil || !open {
		return err
	}
	view, err := o.Store.AgentView(ctx, string(op.AgentID))
	if err != nil {
		return fmt.Errorf("read agent: %w", err)
	}
	o.Fail.Hit("cleanup/looked")
	if o.holdLeft(view.Agent) > 0 {
		defer o.lookAtHolds()
		return o.Store.PutOffCleanUp(ctx, op.AgentID)
	}
	trees, kept := slices.Clone(view.Projects), false
	for i, t := range trees {
		if t.State != cw.WorktreePresent {
			continue
		}
		removed, why, err := o.clearUp(ctx, view.Agent, &trees[i], op)
		switch {
		case err != nil && (!last || ctx.Err() != nil):
			return fmt.Errorf("clear up worktree %s: %w", t.Path, err)
		case err != nil:
			why = err.Error()
		}
		if !removed {
			kept = true
			if err := o.warn(ctx, view.Agent, fmt.Sprintf("the worktree of %s stays: %s", t.Project, why)); err != nil {
				return err
			}
			continue
		}
		trees[i].State = cw.WorktreeRemoved
	}
	o.Fail.Hit("cleanup/removed")
	if !kept {
		o.removeWorkdir(view.Agent)
	}
	if err := o.Store.EndOp(ctx, op.ID, trees, ""); err != nil {
		return fmt.Errorf("store the clean-up: %w", err)
	}
	o.Fail.Hit("cleanup/stored")
	return nil
}

// clearUp removes a worktree in which nothing is alone; why says what keeps it.
func (o *Orchestrator) clearUp(ctx context.Context, a cw.Agent, t *cw.AgentWorktree, op cw.Op) (removed bool, why string, err error) {
	if *t, err = o.handOverSince(ctx, a, *t, op); err != nil {
		return false, "", err
	}
	down, err := o.takeDownClean(ctx, a, *t, op.ID)
	if err != nil {
		return false, "", fmt.Errorf("take it down: %w", err)
	}
	t.SetUp = t.SetUp && !down
	if removed, why, err = o.removeClean(ctx, a, *t); err != nil {
		return false, "", fmt.Errorf("remove it: %w", err)
	}
	return removed, why, nil
}

// handOverSince hands over what a person committed in a worktree that was opened:
// a clean-up that follows no run is what was put off until nobody had it open.
func (o *Orchestrator) handOverSince(ctx context.Context, a cw.Agent, t cw.AgentWorktree, op cw.Op) (cw.AgentWorktree, error) {
	if op.RunID != "" {
		return t, nil // the end of the run handed it over
	}
	req, err := o.lookRequest(ctx, a, t)
	if err != nil {
		return t, err
	}
	look, err := o.Repos.Look(ctx, req)
	if err != nil || look.Missing || look.Tip == t.HeadCommit || look.Commits == 0 {
		return t, nil // the removal says what is wrong
	}
	handed, err := o.Repos.HandOver(ctx, req.Project, a.ID, a.Alias, look.Tip)
	if err != nil {
		return t, fmt.Errorf("hand over %s: %w", t.Branch, err)
	}
	t.HeadCommit, t.Commits, t.Dirty, t.Stat, t.HandedOver = look.Tip, look.Commits, len(look.Dirty), look.Stat, handed.Ref
	return t, nil
}

// takeDownClean takes a worktree down in which nothing is alone, and which so is
// about to go.
func (o *Orchestrator) takeDownClean(ctx context.Context, a cw.Agent, t cw.AgentWorktree, op cw.OpID) (done bool, err error) {
	file, err := o.teardownOf(ctx, t)
	if err != nil || len(file.Teardown) == 0 {
		return false, err
	}
	req, err := o.lookRequest(ctx, a, t)
	if err != nil {
		return false, err
	}
	alone, err := o.Repos.Alone(ctx, req)
	if err != nil || alone != "" {
		return false, nil // the removal says what is wrong
	}
	return o.takeDown(ctx, a, t, file, op)
}

// removeClean removes one worktree, unless it is no longer clean.
func (o *Orchestrator) removeClean(ctx context.Context, a cw.Agent, t cw.AgentWorktree) (removed bool, why string, err error) {
	req, err := o.lookRequest(ctx, a, t)
	if err != nil {
		return false, "", err
	}
	return o.Repos.RemoveClean(ctx, req)
}

// removeWorkdir removes what is left of the folder of an agent with several
// projects: cw's own files, and then the folder, if nothing else is in it.
func (o *Orchestrator) removeWorkdir(a cw.Agent) {
	dir := o.Home.Workdir(a.Alias)
	if a.AgentCwd != dir {
		return
	}
	root, err := openOwnFolder(dir)
	if err != nil {
		return // it is gone
	}
	var errs []error
	for _, own := range []string{".cw/input", outputDir, ".cw/tmp"} {
		errs = append(errs, root.RemoveAll(own))
	}
	errs = append(errs, root.Close())
	// Only when they are empty: whatever else is there was not made by cw.
	for _, left := range []string{filepath.Join(dir, ".cw"), dir} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		o.Log.Info("an agent's folder stays", "agent", a.Alias, "because", err)
	}
}
