package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"cw/internal/cw"
)

// The steps of a removal, in order. Each may be repeated.
const (
	stepRemoveIntended = "remove/intended"
	stepRemoveSnapshot = "remove/snapshot"
	stepRemoveDown     = "remove/taken-down"
	stepRemoveTrashed  = "remove/trashed"
	stepRemoveStored   = "remove/stored"
)

// Remove implements cw.AgentService. Everything that is not committed goes into
// a snapshot first; then the agent's places are renamed into the trash, so that
// nothing is deleted here.
func (o *Orchestrator) Remove(ctx context.Context, ref string) (cw.AgentView, error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	err = o.outlive(ctx, func(life context.Context) error { return o.removeAgent(life, agent.ID) })
	if err != nil {
		return cw.AgentView{}, err
	}
	return o.Agent(ctx, string(agent.ID))
}

// outlive does something to its end whether or not the caller waits for it.
func (o *Orchestrator) outlive(ctx context.Context, do func(life context.Context) error) error {
	result := make(chan error, 1)
	err := o.hand(ctx, func(life context.Context) { result <- do(cw.WithActor(life, cw.ActorOf(ctx))) })
	if err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// removeAgent intends a removal, which the store refuses while the agent runs,
// and does it. A clean-up that is not over has nothing left to do: what it would
// remove goes to the trash.
func (o *Orchestrator) removeAgent(ctx context.Context, id cw.AgentID) error {
	done, err := o.turns.take(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	if err := o.finishOpen(ctx, id); err != nil {
		return err
	}
	agent, err := o.Store.AgentByRef(ctx, string(id))
	if err != nil || agent.DeletedAt != nil {
		return err
	}
	if err := o.endCleanUp(ctx, agent); err != nil {
		return err
	}
	op := newOp(cw.OpRemove, id)
	if err := o.Store.IntendOp(ctx, op); err != nil {
		return err
	}
	o.Fail.Hit(stepRemoveIntended)
	return o.orFail(ctx, op, o.remove(ctx, op))
}

// newOp makes an operation that is no run. Names of what it makes are derived
// from it.
func newOp(kind cw.OpKind, agent cw.AgentID) cw.Op {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return cw.Op{ID: cw.OpID(cw.NewID()), Kind: kind, Status: cw.OpIntended, AgentID: agent, CreatedAt: now, UpdatedAt: now}
}

// endCleanUp closes an open clean-up of an agent whose turn this is, and an
// opening that an earlier daemon began.
func (o *Orchestrator) endCleanUp(ctx context.Context, agent cw.Agent) error {
	open, err := o.Store.OpenOps(ctx, cw.OpCleanUp, cw.OpOpen)
	if err != nil {
		return fmt.Errorf("look for a clean-up: %w", err)
	}
	for _, op := range open {
		if op.AgentID != agent.ID {
			continue
		}
		if err := o.Store.EndOp(ctx, op.ID, nil, "the agent is being removed"); err != nil {
			return fmt.Errorf("end the clean-up: %w", err)
		}
	}
	return nil
}

// orFail closes an operation that did not work out, so that a person can try
// again. What ctx interrupted stays open for the next daemon.
func (o *Orchestrator) orFail(ctx context.Context, op cw.Op, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	o.Log.Error("an operation failed", "operation", op.Kind, "agent", op.AgentID, "error", err)
	return errors.Join(err, o.Store.EndOp(ctx, op.ID, nil, err.Error()))
}

// finishOpen does the rest of a removal or restoring of the agent that an earlier
// daemon began: who asks meanwhile need not ask again. The caller has the turn.
func (o *Orchestrator) finishOpen(ctx context.Context, agent cw.AgentID) error {
	open, err := o.Store.OpenOps(ctx, cw.OpRemove, cw.OpRestore)
	if err != nil {
		return fmt.Errorf("look for an open operation: %w", err)
	}
	for _, op := range open {
		if op.AgentID != agent {
			continue
		}
		if err := o.doOp(ctx, op); err != nil {
			return o.orFail(ctx, op, err)
		}
	}
	return nil
}

// doOp does what a removal, a restoring or an opening intends.
func (o *Orchestrator) doOp(ctx context.Context, op cw.Op) error {
	switch op.Kind {
	case cw.OpRestore:
		return o.restore(ctx, op)
	case cw.OpOpen:
		_, err := o.open(ctx, op)
		return err
	}
	return o.remove(ctx, op)
}

// isOpen tells whether an operation is not over.
func (o *Orchestrator) isOpen(ctx context.Context, op cw.Op) (bool, error) {
	open, err := o.Store.OpenOps(ctx, op.Kind)
	if err != nil {
		return false, fmt.Errorf("look for the operation: %w", err)
	}
	return slices.ContainsFunc(open, func(other cw.Op) bool { return other.ID == op.ID }), nil
}

// takeUpRemoval does the rest of a removal, a restoring or an opening that an earlier daemon
// began. Nobody waits for it any more: what cannot be done is told as a warning.
func (o *Orchestrator) takeUpRemoval(ctx context.Context, op cw.Op) {
	log := o.Log.With("agent", op.AgentID, "operation", op.Kind)
	_ = again(ctx, log, "take up an operation", func(try int) error {
		done, err := o.turns.take(ctx, op.AgentID)
		if err != nil {
			return err
		}
		defer done()
		if open, err := o.isOpen(ctx, op); err != nil || !open {
			return err // somebody asked for it meanwhile, and it is done
		}
		err = o.doOp(ctx, op)
		if err == nil || ctx.Err() != nil || try < completeTries {
			return err
		}
		if agent, lookErr := o.Store.AgentByRef(ctx, string(op.AgentID)); lookErr == nil {
			_ = o.warn(ctx, agent, fmt.Sprintf("its %s did not work out: %v", op.Kind, err)) // the log has it, too
		}
		_ = o.orFail(ctx, op, err)
		return nil
	}) // what ctx interrupted is taken up by the next daemon
	o.bell.Ring(op.AgentID)
	o.goOn(ctx, op.AgentID) // with what a restored agent was given before
}

// remove does what was intended. Every step may be repeated, so recovery calls
// it too.
func (o *Orchestrator) remove(ctx context.Context, op cw.Op) error {
	view, err := o.Store.AgentView(ctx, string(op.AgentID))
	if err != nil {
		return fmt.Errorf("read agent: %w", err)
	}
	r := removal{o: o, op: op, agent: view.Agent, trees: slices.Clone(view.Projects)}
	if err := r.snapshots(ctx); err != nil {
		return err
	}
	o.Fail.Hit(stepRemoveSnapshot)
	if err := r.takeDown(ctx); err != nil {
		return err
	}
	o.Fail.Hit(stepRemoveDown)
	if err := r.toTrash(ctx); err != nil {
		return err
	}
	o.Fail.Hit(stepRemoveTrashed)
	for _, text := range r.warnings {
		if err := o.warn(ctx, r.agent, text); err != nil {
			return err
		}
	}
	at := op.CreatedAt
	ev := cw.NewEvent(cw.EventAgentRemoved, cw.ActorOf(ctx), cw.AgentRemoved{
		Name: r.agent.Alias, Trash: r.places, Until: at.Add(cw.TrashKeep),
	}).About(r.agent.ID, "")
	err = o.Store.RemoveAgent(ctx, cw.Removal{AgentID: r.agent.ID, OpID: op.ID, Worktrees: r.trees, At: at, Events: []cw.Event{ev}})
	if err != nil {
		return fmt.Errorf("store the removal: %w", err)
	}
	o.Fail.Hit(stepRemoveStored)
	o.Log.Info("agent removed", "agent", r.agent.Alias, "trash", r.places)
	o.bell.Ring(r.agent.ID)
	return nil
}

// removal is one agent on its way to the trash.
type removal struct {
	o        *Orchestrator
	op       cw.Op
	agent    cw.Agent
	trees    []cw.AgentWorktree
	places   []string // in the trash
	warnings []string
}

// snapshots keeps what is in no commit. One that cannot be made does not stop a
// removal: the directory goes to the trash whole.
func (r *removal) snapshots(ctx context.Context) error {
	if r.o.Guards.Off("snapshot-first") {
		return nil
	}
	for i, t := range r.trees {
		if t.State == cw.WorktreeTrashed || path.Base(t.KeepRef) == string(r.op.ID) {
			continue // of an earlier try
		}
		if t.State == cw.WorktreeRemoved && !there(t.Path) {
			continue // it was cleaned up: everything of it is on its branch
		}
		look, err := r.o.lookRequest(ctx, r.agent, t)
		if err != nil {
			return err
		}
		if there(t.Path) {
			notes, err := r.o.Repos.SettleBaseline(ctx, look)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.warn("work that a set-up of %s changed is not put back: %v", t.Project, err)
			}
			r.warnings = append(r.warnings, notes...)
		}
		snap, err := r.o.Repos.TakeSnapshot(ctx, look, string(r.op.ID))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if there(t.Path) {
				r.warn("no snapshot of %s could be made, so its place in the trash is the only copy of what is not committed: %v", t.Project, err)
			}
			continue
		}
		r.trees[i].KeepRef, r.trees[i].KeepCommit, r.trees[i].KeepWhole = snap.Ref, snap.Commit, snap.Whole
	}
	if err := r.o.Store.SaveWorktrees(ctx, r.op.ID, stepRemoveSnapshot, r.trees); err != nil {
		return fmt.Errorf("store the snapshots: %w", err)
	}
	return nil
}

// takeDown runs the teardown commands, once a snapshot holds all that is in no
// commit: what they change or remove of it is put back. Where something is in no
// snapshot, they are not run.
func (r *removal) takeDown(ctx context.Context) error {
	for i, t := range r.trees {
		down, err := r.takeDownTree(ctx, t)
		if err != nil {
			return err
		}
		r.trees[i].SetUp = t.SetUp && !down
	}
	if err := r.o.Store.SaveWorktrees(ctx, r.op.ID, stepRemoveDown, r.trees); err != nil {
		return fmt.Errorf("store what is taken down: %w", err)
	}
	return nil
}

func (r *removal) takeDownTree(ctx context.Context, t cw.AgentWorktree) (down bool, err error) {
	file, err := r.o.teardownOf(ctx, t)
	if err != nil || len(file.Teardown) == 0 {
		return false, err
	}
	look, err := r.o.lookRequest(ctx, r.agent, t)
	if err != nil {
		return false, err
	}
	snap, err := r.o.Repos.TakeSnapshot(ctx, look, string(r.op.ID)) // the same again
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		r.warn("the teardown of %s was not run: it could delete what is in no snapshot", t.Project)
		return false, nil
	case snap.Alone != "":
		r.warn("the teardown of %s was not run: %q is in no snapshot, and the commands could delete it", t.Project, snap.Alone)
		return false, nil
	}
	if down, err = r.o.takeDown(ctx, r.agent, t, file, r.op.ID); err != nil || !down {
		return false, err
	}
	notes, err := r.o.Repos.PutBackWork(ctx, look, snap.Ref, "the teardown of "+t.Project)
	r.warnings = append(r.warnings, notes...)
	return true, err
}

func (r *removal) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// toTrash renames the agent's places: its worktrees, and the folder of an agent
// with several projects or none.
func (r *removal) toTrash(ctx context.Context) error {
	if err := os.MkdirAll(r.o.Home.Trash(), 0o700); err != nil {
		return fmt.Errorf("make the trash: %w", err)
	}
	dir := r.o.trashFor(r.agent, r.op.CreatedAt)
	for i, t := range r.trees {
		if t.State == cw.WorktreeTrashed {
			r.places = append(r.places, t.Trash)
			continue
		}
		to := dir
		if t.Path != r.o.Home.Worktree(r.agent.Alias) {
			to = filepath.Join(dir, t.Project)
		}
		place, err := r.moveTree(ctx, t, to)
		if err != nil {
			return err
		}
		r.note(i, place)
	}
	folder := r.o.folderOf(r.agent)
	if folder == "" {
		return nil
	}
	place, err := r.moveFolder(folder)
	if place != "" {
		r.places = append(r.places, place)
	}
	return err
}

// note puts down where a worktree lies now. One that is neither here nor there
// was taken away by somebody.
func (r *removal) note(i int, place string) {
	t := &r.trees[i]
	switch {
	case place != "":
		at := r.op.CreatedAt
		t.State, t.Trash, t.TrashedAt = cw.WorktreeTrashed, place, &at
		r.places = append(r.places, place)
	case t.State == cw.WorktreePresent && !there(t.Path):
		r.warn("the worktree of %s was not at %s any more; its branch %s is kept", t.Project, t.Path, t.Branch)
		t.State = cw.WorktreeRemoved
	}
}

// moveTree moves one worktree; "" when there is none. What git does not know any
// more, or not as a worktree, is renamed all the same.
func (r *removal) moveTree(ctx context.Context, t cw.AgentWorktree, to string) (string, error) {
	look, err := r.o.lookRequest(ctx, r.agent, t)
	if err != nil {
		return "", err
	}
	place, err := r.o.Repos.MoveToTrash(ctx, look, to)
	if err == nil || ctx.Err() != nil {
		return place, err
	}
	if !there(t.Path) && !there(to) {
		return "", nil
	}
	moved, moveErr := rename(t.Path, to)
	if moveErr != nil {
		r.warn("%s stays at %s: %v", t.Project, t.Path, errors.Join(err, moveErr))
		return "", nil
	}
	r.warn("%s is in the trash, but git knows it no more as a worktree: %v", t.Project, err)
	return moved, nil
}

// moveFolder moves the folder of an agent with several projects, or with none.
func (r *removal) moveFolder(folder string) (string, error) {
	var errs []error
	for _, to := range r.o.trashedFolders(r.agent, r.op.CreatedAt) {
		place, err := rename(folder, to)
		if err == nil {
			return place, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("move %s to the trash: %w", folder, errors.Join(errs...))
}

// rename moves a folder and makes the way to its new place. Asked again it
// finds what was moved. "" when there is neither.
func rename(from, to string) (string, error) {
	if there(to) {
		return to, nil
	}
	if !there(from) {
		return "", nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	return to, os.Rename(from, to)
}

// there tells whether something is at a path, whatever it is.
func there(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
