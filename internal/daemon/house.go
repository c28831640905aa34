package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cw/internal/cw"
	"cw/internal/store"
	"cw/worktree"
)

// house implements cw.HouseService.
type house struct {
	janitor *janitor
	store   *store.DB
	repos   branchCleaner
}

// branchCleaner lists and deletes branches of agents in the users' repositories.
type branchCleaner interface {
	AgentBranches(ctx context.Context, p cw.Project) ([]worktree.AgentBranch, error)
	DeleteBranch(ctx context.Context, p cw.Project, b worktree.AgentBranch) error
}

// CollectGarbage implements cw.HouseService.
func (h house) CollectGarbage(ctx context.Context, req cw.GCRequest) (cw.GCReport, error) {
	report := cw.GCReport{DryRun: req.DryRun, Items: []cw.Garbage{}}
	if req.Agent != "" && !req.Branches {
		return report, cw.Errorf(cw.CodeInvalid, "an agent is named for a clean-up of everything").WithHint("it names whose branches go: ask for branches too")
	}
	if req.Branches {
		branches, err := h.collectBranches(ctx, req)
		if err != nil {
			return report, err
		}
		report.Items = branches
	}
	if req.Agent != "" {
		return report, nil
	}
	pressure := h.janitor.isLow()
	found, err := h.janitor.collect(ctx, req.DryRun, pressure)
	if err != nil {
		return report, fmt.Errorf("clean up: %w", err)
	}
	for _, g := range found {
		report.Items = append(report.Items, g)
		if g.Goes && g.Error == "" {
			report.FreedBytes += g.Bytes
		}
	}
	if !req.DryRun {
		h.janitor.vacuum(ctx)
	}
	return report, nil
}

// collectBranches deletes the merged branches of agents in the repositories of
// all projects. A repository that cannot be looked at is told as one item.
func (h house) collectBranches(ctx context.Context, req cw.GCRequest) ([]cw.Garbage, error) {
	items := []cw.Garbage{}
	projects, err := h.store.Projects(ctx)
	if err != nil {
		return items, fmt.Errorf("list the projects: %w", err)
	}
	for _, p := range projects {
		branches, err := h.repos.AgentBranches(ctx, p)
		if err != nil {
			if req.Agent == "" {
				items = append(items, cw.Garbage{Kind: cw.GarbageBranch, Path: p.Where(), Reason: "its branches cannot be read", Error: err.Error()})
			}
			continue
		}
		for _, b := range branches {
			if req.Agent != "" && req.Agent != b.Alias {
				continue
			}
			item := branchItem(p, b)
			if item.Goes && !req.DryRun {
				if err := h.repos.DeleteBranch(ctx, p, b); err != nil {
					item.Error = err.Error()
				}
			}
			items = append(items, item)
		}
	}
	return items, nil
}

// branchItem says whether a branch goes, and why.
func branchItem(p cw.Project, b worktree.AgentBranch) cw.Garbage {
	item := cw.Garbage{Kind: cw.GarbageBranch, Agent: b.Alias, Path: p.Where()}
	switch {
	case b.CheckedOut != "":
		item.Reason = "it is checked out in " + b.CheckedOut
	case b.MergedInto == "":
		item.Reason = "it is not merged"
	default:
		item.Goes, item.Reason = true, "it is merged into "+b.MergedInto
	}
	return item
}

// Backup implements cw.HouseService.
func (h house) Backup(ctx context.Context, req cw.BackupRequest) (cw.BackupReport, error) {
	if !filepath.IsAbs(req.Path) {
		return cw.BackupReport{}, cw.Errorf(cw.CodeInvalid, "the path %.200q of the backup is not absolute", req.Path).
			WithHint("name a file in a folder that is there, like /backups/cw.db")
	}
	files, err := h.store.Backup(ctx, filepath.Clean(req.Path), req.Logs)
	if err != nil {
		return cw.BackupReport{}, err
	}
	report := cw.BackupReport{Files: files}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return report, fmt.Errorf("look at the backup: %w", err)
		}
		report.Bytes += info.Size()
	}
	return report, nil
}
