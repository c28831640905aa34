package servicetest

import (
	"context"
	"os"
	"path/filepath"

	"cw/internal/cw"
)

// CollectGarbage implements cw.HouseService: what is in the trash stays, unless
// it is lost.
func (m *Memory) CollectGarbage(_ context.Context, req cw.GCRequest) (cw.GCReport, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	report := cw.GCReport{DryRun: req.DryRun, Items: []cw.Garbage{}}
	for _, a := range m.agents {
		for _, w := range a.Projects {
			if w.Trash != "" && !m.lost[a.ID] {
				report.Items = append(report.Items, cw.Garbage{
					Kind: cw.GarbageTrash, Agent: a.Alias, Path: w.Trash, Bytes: 1, Reason: "it is kept for 7 days",
				})
			}
		}
	}
	return report, nil
}

// Backup implements cw.HouseService: its copies are files of one line.
func (m *Memory) Backup(_ context.Context, req cw.BackupRequest) (cw.BackupReport, error) {
	if !filepath.IsAbs(req.Path) {
		return cw.BackupReport{}, cw.Errorf(cw.CodeInvalid, "%.200q is no absolute path", req.Path).WithHint("name the whole path of the copy")
	}
	report := cw.BackupReport{Files: []string{req.Path}}
	if req.Logs {
		report.Files = append(report.Files, req.Path+".log")
	}
	for _, path := range report.Files {
		if _, err := os.Lstat(path); err == nil {
			return cw.BackupReport{}, cw.Errorf(cw.CodeRefused, "there is something at %s", path).WithHint("choose another path")
		}
	}
	for _, path := range report.Files {
		const line = "a copy\n"
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			return cw.BackupReport{}, cw.Errorf(cw.CodeFailed, "the copy %s cannot be written", path).WithHint("choose another folder").Because(err)
		}
		report.Bytes += int64(len(line))
	}
	return report, nil
}
