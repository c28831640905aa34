package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// IntendCommands stores a run of a project's commands before anything of it is
// started, and gives it as it is stored: one with the same id is the same run.
// CodeInvalid for a run of an agent.
func (db *DB) IntendCommands(ctx context.Context, run cw.Run) (cw.Run, error) {
	if run.Kind != cw.RunCheck && run.Kind != cw.RunSetup {
		return cw.Run{}, cw.Errorf(cw.CodeInvalid, "commands are not run as %q", string(run.Kind))
	}
	var stored cw.Run
	err := db.change(ctx, "intend commands", func(t *tx) error {
		stored = cw.Run{}
		found, err := one(t.DB, &stored, "id = ?", run.ID)
		if err != nil {
			return err
		}
		if found {
			if stored.Kind != run.Kind {
				return cw.Errorf(cw.CodeInvalid, "the run %s is another one", run.ID)
			}
			return nil
		}
		run.CreatedAt = t.now
		stored = run
		return t.Create(&stored).Error
	})
	return stored, err
}

// SaveCommandStart stores the process of the command that a run is at: by it who
// calls from below it is known.
func (db *DB) SaveCommandStart(ctx context.Context, id cw.RunID, handle []byte, pid int, at time.Time) error {
	return db.change(ctx, "store the start of a command", func(t *tx) error {
		updated := t.Model(&cw.Run{}).Where("id = ? AND kind <> ? AND ended_at IS NULL", id, cw.RunAgent).
			Updates(map[string]any{"handle": handle, "pid": pid, "started_at": gorm.Expr("COALESCE(started_at, ?)", at.UTC())})
		return orMissing(updated, "run of commands that goes on,", string(id))
	})
}

// EndCommands stores how a run of commands came out: Result and ExitCode. One
// that has ended stays as it is.
func (db *DB) EndCommands(ctx context.Context, run cw.Run) error {
	return db.change(ctx, "store the end of commands", func(t *tx) error {
		return t.Model(&cw.Run{}).Where("id = ? AND kind <> ? AND ended_at IS NULL", run.ID, cw.RunAgent).
			Updates(map[string]any{"ended_at": t.now, "result": run.Result, "exit_code": run.ExitCode}).Error
	})
}

// UnfinishedCommands gives the runs of commands that have not ended, oldest
// first.
func (db *DB) UnfinishedCommands(ctx context.Context) ([]cw.Run, error) {
	var runs []cw.Run
	err := db.query(ctx, "find unfinished commands", func(g *gorm.DB) error {
		return g.Where("ended_at IS NULL AND kind <> ?", cw.RunAgent).Order("created_at, rowid").Find(&runs).Error
	})
	return runs, err
}
