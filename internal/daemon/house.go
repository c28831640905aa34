package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cw/internal/cw"
	"cw/internal/store"
)

// house implements cw.HouseService.
type house struct {
	janitor *janitor
	store   *store.DB
}

// CollectGarbage implements cw.HouseService.
func (h house) CollectGarbage(ctx context.Context, req cw.GCRequest) (cw.GCReport, error) {
	report := cw.GCReport{DryRun: req.DryRun, Items: []cw.Garbage{}}
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
