package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
	"cw/worktree"
)

// projectNameMax is the greatest length of a project's name: it is a folder.
const projectNameMax = 40

var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// AddProject implements cw.ProjectService.
func (o *Orchestrator) AddProject(ctx context.Context, req cw.ProjectRequest) (cw.Project, error) {
	if err := req.Check(); err != nil {
		return cw.Project{}, err
	}
	if req.URL != "" {
		return o.addRemote(ctx, req)
	}
	if !filepath.IsAbs(req.Path) {
		return cw.Project{}, cw.Errorf(cw.CodeInvalid, "the path %q is not absolute", req.Path).WithHint("give the whole path")
	}
	repo, err := o.Repos.Inspect(ctx, req.Path)
	if err != nil {
		return cw.Project{}, err
	}
	if own, err := o.ownCopy(ctx, repo); err != nil || own != nil {
		if err != nil {
			return cw.Project{}, err
		}
		return *own, nil
	}
	p, known, err := o.Store.ProjectByGitDir(ctx, repo.CommonGitDir)
	if err != nil || known {
		return p, err
	}
	p, err = o.newProject(ctx, repo, nil)
	if err != nil {
		return cw.Project{}, err
	}
	return p, o.register(ctx, p)
}

// register stores a new project. Its mirror is made by the first spawn.
func (o *Orchestrator) register(ctx context.Context, p cw.Project) error {
	ev := cw.NewEvent(cw.EventProjectAdded, cw.ActorOf(ctx), cw.ProjectChanged{Name: p.Name, Path: p.Path, RemoteURL: p.RemoteURL})
	ev.ProjectID = p.ID
	return o.Store.AddProject(ctx, p, ev)
}

// newProject describes a repository that is not registered yet, under a name
// that is free in the store and among those planned just now.
func (o *Orchestrator) newProject(ctx context.Context, repo worktree.Repository, planned []place) (cw.Project, error) {
	known, err := o.Store.Projects(ctx)
	if err != nil {
		return cw.Project{}, fmt.Errorf("list projects: %w", err)
	}
	for _, pl := range planned {
		known = append(known, pl.project)
	}
	id := cw.NewID()
	name := freeName(projectName(repo.Name), known)
	now := time.Now().UTC()
	return cw.Project{
		ID: cw.ProjectID(id), Name: name, Path: repo.Main, GitDir: repo.CommonGitDir,
		Mirror: name + "-" + id[:4] + ".git", Stall: cw.StallEvent, Fallback: []string{}, CreatedAt: now, UpdatedAt: now,
	}, nil
}

func projectName(path string) string {
	name := strings.Trim(notInName.ReplaceAllString(filepath.Base(path), "-"), "-._")
	if name == "" {
		name = "project"
	}
	if len(name) > projectNameMax {
		name = name[:projectNameMax]
	}
	if cw.IsID(name) { // it must not be taken for an id
		name += "-project"
	}
	return name
}

// freeName numbers a name that is taken. Case does not tell two names apart:
// they are folders.
func freeName(name string, known []cw.Project) string {
	taken := func(s string) bool {
		return slices.ContainsFunc(known, func(p cw.Project) bool { return strings.EqualFold(p.Name, s) })
	}
	free := name
	for n := 2; taken(free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

// sameRepository gives a project with a checkout of its repository that is there:
// the one it had, or another one when that worktree is gone, or "" when only the
// repository itself is left. CodeNotFound when that is no longer where it was.
func (o *Orchestrator) sameRepository(ctx context.Context, p cw.Project) (same cw.Project, checkout string, err error) {
	repo, err := o.Repos.Inspect(ctx, p.Path)
	if err == nil && repo.CommonGitDir == p.GitDir {
		return p, p.Path, nil
	}
	if !dirExists(p.GitDir) {
		return p, "", cw.Errorf(cw.CodeNotFound, "the repository of project %s is no longer at %s", p.Name, p.Path).
			WithHint("if it was moved, remove the project and add it again: cw project remove %s; cw project add PATH", p.Name).Because(err)
	}
	if err != nil && dirExists(p.Path) && cw.ErrorCode(err) != cw.CodeNotFound {
		return p, "", err // it is there, and git says what is wrong with it
	}
	other, err := o.Repos.CheckoutOf(ctx, p.GitDir)
	if err != nil || other == "" {
		return p, "", err
	}
	p, err = o.movedCheckout(ctx, p, other)
	return p, other, err
}

// ownCopy gives the project whose mirror a repository is, as seen from a worktree of
// an agent, and nil for a repository of the user's. CodeRefused for another one of
// cw's own.
func (o *Orchestrator) ownCopy(ctx context.Context, repo worktree.Repository) (*cw.Project, error) {
	if !o.Repos.Owns(repo.CommonGitDir) {
		return nil, nil
	}
	all, err := o.Store.Projects(ctx)
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", err)
	}
	for _, p := range all {
		if p.Mirror == filepath.Base(repo.CommonGitDir) {
			return &p, nil
		}
	}
	return nil, cw.Errorf(cw.CodeRefused, "%s belongs to cw, and to no project", repo.TopLevel).
		WithHint("go into your own repository")
}

// movedCheckout notes that another worktree of the same repository stands for the
// project from now on.
func (o *Orchestrator) movedCheckout(ctx context.Context, p cw.Project, checkout string) (cw.Project, error) {
	if err := o.Store.UpdateProjectPath(ctx, p.ID, checkout, p.GitDir); err != nil {
		return p, fmt.Errorf("note the checkout of %s: %w", p.Name, err)
	}
	p.Path = checkout
	return p, nil
}

// Projects implements cw.ProjectService.
func (o *Orchestrator) Projects(ctx context.Context, q cw.PageQuery) (cw.Page[cw.Project], error) {
	return o.Store.ProjectPage(ctx, q)
}

// Project implements cw.ProjectService.
func (o *Orchestrator) Project(ctx context.Context, ref string) (cw.Project, error) {
	return o.Store.ProjectByRef(ctx, ref)
}

// SetProject implements cw.ProjectService. A policy counts from now on, also for
// agents that run.
func (o *Orchestrator) SetProject(ctx context.Context, ref string, set cw.ProjectSettings) (cw.Project, error) {
	if err := set.Check(); err != nil {
		return cw.Project{}, err
	}
	p, err := o.Store.ProjectByRef(ctx, ref)
	if err != nil {
		return cw.Project{}, err
	}
	told := cw.ProjectPolicies{Name: p.Name, Stall: p.Stall, AutoResume: p.AutoResume, Fallback: p.Fallback, AgentSpawn: p.AgentSpawn}
	if set.Stall != nil {
		told.Stall = *set.Stall
	}
	if set.AutoResume != nil {
		told.AutoResume = *set.AutoResume
	}
	if set.Fallback != nil {
		for _, name := range *set.Fallback {
			if _, err := o.Presets.Get(name); err != nil {
				return cw.Project{}, err
			}
		}
		told.Fallback = *set.Fallback
	}
	if set.AgentSpawn != nil {
		told.AgentSpawn = *set.AgentSpawn
	}
	ev := cw.NewEvent(cw.EventProjectChanged, cw.ActorOf(ctx), told)
	ev.ProjectID = p.ID
	return o.Store.SetProject(ctx, p.ID, set, ev)
}

// RemoveProject implements cw.ProjectService. The row goes first: a mirror
// without a row is only disk space, a row without a mirror would be a lie.
func (o *Orchestrator) RemoveProject(ctx context.Context, ref string) (cw.Project, error) {
	p, err := o.Store.ProjectByRef(ctx, ref)
	if err != nil {
		return cw.Project{}, err
	}
	if err := o.keepBranches(ctx, p); err != nil {
		return cw.Project{}, err
	}
	ev := cw.NewEvent(cw.EventProjectRemoved, cw.ActorOf(ctx), cw.ProjectChanged{Name: p.Name, Path: p.Path, RemoteURL: p.RemoteURL})
	ev.ProjectID = p.ID
	if err := o.Store.RemoveProject(ctx, p.ID, ev); err != nil {
		return cw.Project{}, err
	}
	if err := o.Repos.RemoveMirror(ctx, p); err != nil {
		return p, cw.Errorf(cw.CodeFailed, "project %s is removed, but its copies are still on the disk", p.Name).Because(err)
	}
	return p, nil
}

func dirExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
