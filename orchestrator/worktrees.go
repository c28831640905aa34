package orchestrator

import (
	"context"
	"fmt"
	"os"
	"slices"

	"cw/internal/cw"
	"cw/worktree"
)

// makeWorktrees makes the places of a new agent.
func (o *Orchestrator) makeWorktrees(ctx context.Context, st *cw.RunState, opts options) ([]string, error) {
	var notes []string
	for i, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		note, err := o.Repos.EnsureMirror(ctx, p)
		if err != nil {
			return nil, err
		}
		if note != "" {
			notes = append(notes, note)
		}
		added, err := o.Repos.Add(ctx, worktree.AddRequest{
			Project: p, Checkout: orDefault(opts.Checkouts[string(p.ID)], p.Path), AgentID: st.Agent.ID,
			Alias: st.Agent.Alias, Path: t.Path, Base: worktree.Base{Branch: t.BaseBranch, Commit: t.BaseCommit},
			InMirror: slices.Contains(opts.InMirror, p.ID),
			Include:  opts.around.of(t.ProjectID).Include,
		})
		if err != nil {
			return nil, err
		}
		notes = append(notes, added.Warnings...)
		st.Worktrees[i].State = cw.WorktreePresent
		st.Worktrees[i].HeadCommit = added.HeadCommit
		st.Worktrees[i].Included = added.Included
	}
	return notes, makeWorkspace(*st)
}

// ensureWorktrees brings an agent's places back, each at the path it had: some
// CLIs go on with a session only from where it began.
func (o *Orchestrator) ensureWorktrees(ctx context.Context, st *cw.RunState, opts options) ([]string, error) {
	var notes []string
	for i, t := range st.Worktrees {
		look, err := o.lookRequest(ctx, st.Agent, t)
		if err != nil {
			return nil, err
		}
		req := worktree.EnsureRequest{
			LookRequest: look, Base: worktree.Base{Branch: t.BaseBranch, Commit: t.BaseCommit},
			Checkout:   orDefault(opts.Checkouts[string(t.ProjectID)], look.Project.Path),
			DeadBefore: st.Run.CreatedAt, // it was intended when the one before was over
			Include:    opts.around.of(t.ProjectID).Include,
		}
		if t.State == cw.WorktreeTrashed {
			req.Trash, req.KeepRef = t.Trash, t.KeepRef
		}
		if st.Op.Kind == cw.OpOpen { // a person wants to see what is there, not a place to begin anew
			req.Known = t.HeadCommit
		}
		ensured, err := o.Repos.Ensure(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("bring back the worktree of %s: %w", t.Project, err)
		}
		notes = append(notes, ensured.Warnings...)
		st.Worktrees[i].State, st.Worktrees[i].Trash, st.Worktrees[i].TrashedAt = cw.WorktreePresent, "", nil
		madeAgain(&st.Worktrees[i], ensured)
	}
	return notes, makeWorkspace(*st)
}

// madeAgain notes what is known of a worktree that was brought back: one that was
// made again has a new baseline, and the project's set-up is to be run in it.
func madeAgain(t *cw.AgentWorktree, back worktree.Ensured) {
	switch {
	case back.From == fromSnapshot || back.From == fromBranch:
		t.Included, t.SetUp = back.Included, false
	case back.Included != nil:
		t.Included = back.Included
	}
}

// makeWorkspace makes the folder of an agent without a project.
func makeWorkspace(st cw.RunState) error {
	if len(st.Worktrees) > 0 {
		return nil
	}
	if err := os.MkdirAll(st.Agent.AgentCwd, 0o700); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	return nil
}
