package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"cw/internal/cw"
)

// surroundings are what the project files say for the worktrees of an agent, each
// as it is in the commit that the worktree began from. What an agent changes in
// its worktree, or a branch that is merged brings, counts when it is part of the
// commit that another agent begins from, and trusted.
type surroundings struct {
	files map[cw.ProjectID]cw.ProjectFile
}

// of gives the file of a project; one that says nothing where there is none.
func (s *surroundings) of(id cw.ProjectID) cw.ProjectFile {
	if s == nil {
		return cw.ProjectFile{}
	}
	return s.files[id]
}

// surrounded tells whether project files count for agents of a mode: for those
// that work. Architects read the code, and neither build nor change it.
func surrounded(mode cw.Mode) bool { return mode == cw.ModeExecute }

// surroundingsOf reads the project files of an agent's worktrees. CodeRefused
// when one of them cannot be used or is not trusted.
func (o *Orchestrator) surroundingsOf(ctx context.Context, st cw.RunState) (*surroundings, error) {
	around := &surroundings{files: map[cw.ProjectID]cw.ProjectFile{}}
	if !surrounded(st.Agent.Mode) {
		return around, nil
	}
	for _, t := range st.Worktrees {
		p, err := o.Store.ProjectByRef(ctx, string(t.ProjectID))
		if err != nil {
			return nil, fmt.Errorf("find project %s: %w", t.Project, err)
		}
		view, err := o.ProjectFileAt(ctx, p, t.BaseCommit)
		if cw.ErrorCode(err) == cw.CodeNotFound {
			continue // neither repository has the commit: the worktree tells what is wrong, if it matters
		}
		if err != nil {
			return nil, err
		}
		if err := refuseUntrusted(view, howToTrust(p, t.BaseCommit, false)); err != nil && !o.Guards.Off("trust-before-run") {
			return nil, err
		}
		around.files[p.ID] = view.File
	}
	return around, nil
}

// refuseUntrustedPlaces refuses a spawn, before anything of it is made, when the
// project file at the base of a place cannot be used or is not trusted.
// CodeRefused.
func (o *Orchestrator) refuseUntrustedPlaces(ctx context.Context, mode cw.Mode, places []place) error {
	if !surrounded(mode) {
		return nil
	}
	for i, pl := range places {
		view, err := o.ProjectFileAt(ctx, pl.project, pl.base.Commit)
		if err != nil {
			return err
		}
		if err := refuseUntrusted(view, howToTrust(pl.project, pl.base.Commit, pl.isNew)); err != nil && !o.Guards.Off("trust-before-run") {
			return err
		}
		places[i].hooks = view.File.Hooks
	}
	return nil
}

// howToTrust says what a person does about a file that is not trusted.
func howToTrust(p cw.Project, commit string, isNew bool) string {
	if isNew {
		return fmt.Sprintf("register it and look at it: cw project add %s; cw project trust %s", p.Where(), p.Name)
	}
	return fmt.Sprintf("look at it: cw project trust %s; for exactly this commit: --ref %.12s", p.Name, commit)
}

// forgetSetUps notes of worktrees that are not where they were that the
// project's set-up is to be run again: they are made anew, or were taken down
// when they went.
func (o *Orchestrator) forgetSetUps(ctx context.Context, st *cw.RunState) error {
	forgot := false
	for i, t := range st.Worktrees {
		if _, err := os.Lstat(t.Path); t.SetUp && errors.Is(err, fs.ErrNotExist) {
			st.Worktrees[i].SetUp, forgot = false, true
		}
	}
	if !forgot {
		return nil
	}
	if err := o.Store.SaveWorktrees(ctx, st.Op.ID, orDefault(st.Op.Step, stepOf(*st.Op, stepIntended)), st.Worktrees); err != nil {
		return fmt.Errorf("store that the set-up is to be run again: %w", err)
	}
	return nil
}
