package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cw/internal/cw"
	"cw/worktree"
)

// The steps of a restoring, in order. Each may be repeated.
const (
	stepRestoreIntended = "restore/intended"
	stepRestorePlaced   = "restore/placed"
	stepRestoreStored   = "restore/stored"
)

// Where what is restored comes from, as package worktree says it.
const (
	fromTrash    = "trash"
	fromSnapshot = "snapshot"
	fromBranch   = "branch"
)

// Restore implements cw.AgentService.
func (o *Orchestrator) Restore(ctx context.Context, ref string) (cw.AgentView, error) {
	agent, err := o.Store.AgentByRef(ctx, ref)
	if err != nil {
		return cw.AgentView{}, err
	}
	err = o.outlive(ctx, func(life context.Context) error {
		if err := o.restoreAgent(life, agent.ID); err != nil {
			return err
		}
		// Texts and answers that were given before the removal wait again.
		_ = o.hand(life, func(life context.Context) { o.goOn(life, agent.ID) }) // a daemon that ends leaves it to the next
		return nil
	})
	if err != nil {
		return cw.AgentView{}, err
	}
	return o.Agent(ctx, string(agent.ID))
}

// restoreAgent intends a restoring and does it.
func (o *Orchestrator) restoreAgent(ctx context.Context, id cw.AgentID) error {
	done, err := o.turns.take(ctx, id)
	if err != nil {
		return err
	}
	defer done()
	if err := o.finishOpen(ctx, id); err != nil {
		return err
	}
	view, err := o.Store.AgentView(ctx, string(id))
	if err != nil || view.DeletedAt == nil {
		return err
	}
	if err := o.canRestore(view); err != nil {
		return err
	}
	op := newOp(cw.OpRestore, id)
	if err := o.Store.IntendOp(ctx, op); err != nil {
		return err
	}
	o.Fail.Hit(stepRestoreIntended)
	return o.orFail(ctx, op, o.restore(ctx, op))
}

// canRestore refuses what is gone before anything is moved. What was committed
// is never gone: the refusal names it.
func (o *Orchestrator) canRestore(v cw.AgentView) error {
	gone := func(what string) error {
		return cw.Errorf(cw.CodeGone, "%s of agent %s is kept no longer", what, v.Alias).
			WithHint("its output, its messages and its branch agent/%s are still there: cw agent show %s", v.Alias, v.Alias)
	}
	for _, t := range v.Projects {
		inTrash := t.Trash != "" && there(t.Trash) || there(t.Path)
		if !inTrash && t.KeepRef == "" && (t.State == cw.WorktreeTrashed || t.KeepCommit != "") {
			return gone("the worktree of " + t.Project)
		}
	}
	if len(v.Projects) == 0 && o.trashedFolder(v.Agent) == "" && !there(v.AgentCwd) {
		return gone("the folder")
	}
	return nil
}

// restore does what was intended. Every step may be repeated, so recovery calls
// it too.
func (o *Orchestrator) restore(ctx context.Context, op cw.Op) error {
	view, err := o.Store.AgentView(ctx, string(op.AgentID))
	if err != nil {
		return fmt.Errorf("read agent: %w", err)
	}
	if err := o.placeFolder(view.Agent); err != nil {
		return err
	}
	trees, from, notes, err := o.placeTrees(ctx, view)
	if err != nil {
		return err
	}
	o.Fail.Hit(stepRestorePlaced)
	for _, note := range notes {
		if err := o.warn(ctx, view.Agent, note); err != nil {
			return err
		}
	}
	ev := cw.NewEvent(cw.EventAgentRestored, cw.ActorOf(ctx), cw.AgentRestored{Name: view.Alias, From: from}).About(view.ID, "")
	err = o.Store.RestoreAgent(ctx, cw.Restoring{AgentID: view.ID, OpID: op.ID, Worktrees: trees, Events: []cw.Event{ev}})
	if err != nil {
		return fmt.Errorf("store the restoring: %w", err)
	}
	o.Fail.Hit(stepRestoreStored)
	o.Log.Info("agent restored", "agent", view.Alias, "from", from)
	o.bell.Ring(view.ID)
	o.lookAtInbox() // what it asked is open again
	o.afterRestore(ctx, view)
	return nil
}

// placeFolder brings the folder of an agent with several projects, or with none,
// back to its place.
func (o *Orchestrator) placeFolder(a cw.Agent) error {
	folder, trashed := o.folderOf(a), o.trashedFolder(a)
	switch {
	case folder == "" || trashed == "":
		return nil // it has none, or it is back already
	case there(folder):
		return cw.Errorf(cw.CodeRefused, "something stands at %s, where the folder of %s was", folder, a.Alias).
			WithHint("look at it and move it away, then restore again; it lies at %s", trashed)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return fmt.Errorf("make way for the folder of %s: %w", a.Alias, err)
	}
	if err := os.Rename(trashed, folder); err != nil {
		return fmt.Errorf("bring the folder of %s back: %w", a.Alias, err)
	}
	return nil
}

// placeTrees brings the worktrees back. One that was cleaned up before the
// removal stays so: it comes back with the agent's next run.
func (o *Orchestrator) placeTrees(ctx context.Context, v cw.AgentView) (trees []cw.AgentWorktree, from string, notes []string, err error) {
	trees, from = slices.Clone(v.Projects), fromTrash
	for i, t := range trees {
		if t.Trash == "" && t.KeepRef == "" {
			continue
		}
		look, err := o.lookRequest(ctx, v.Agent, t)
		if err != nil {
			return nil, "", nil, err
		}
		back, err := o.Repos.Ensure(ctx, worktree.EnsureRequest{
			LookRequest: look, Base: worktree.Base{Branch: t.BaseBranch, Commit: t.BaseCommit},
			Checkout: look.Project.Path, Trash: t.Trash, KeepRef: t.KeepRef,
		})
		if err != nil {
			return nil, "", nil, fmt.Errorf("bring back the worktree of %s: %w", t.Project, err)
		}
		if back.From == fromSnapshot || t.Trash == "" {
			from = fromSnapshot
		}
		notes = append(notes, back.Warnings...)
		t.State, t.Trash, t.TrashedAt = cw.WorktreePresent, "", nil
		t.KeepRef, t.KeepCommit, t.KeepWhole = "", "", false
		madeAgain(&t, back)
		trees[i] = t
	}
	return trees, from, notes, nil
}

// afterRestore takes away what a restored agent left: the snapshots, whose files
// are all back, and the folder in the trash when it is empty. What is left by a
// crash takes little space and harms nothing.
func (o *Orchestrator) afterRestore(ctx context.Context, v cw.AgentView) {
	var errs []error
	for _, t := range v.Projects {
		if t.KeepRef == "" {
			continue
		}
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err == nil {
			err = o.Repos.DropSnapshot(ctx, p, t.KeepRef)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		o.Log.Warn("drop the snapshots of a restored agent", "agent", v.Alias, "error", err)
	}
	for _, folder := range o.trashedFolders(v.Agent, *v.DeletedAt) {
		_ = os.Remove(filepath.Dir(folder)) // only when it is empty
	}
}
