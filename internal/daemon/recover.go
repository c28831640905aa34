package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/internal/store"
)

// RecoverOptions say what is to be recovered.
type RecoverOptions struct {
	Home    cw.Home
	Version string
	DryRun  bool         // only look, and tell what would be done
	Log     *slog.Logger // may be nil
	Now     func() time.Time
}

// RecoverReport tells what Recover found and did, or would do.
type RecoverReport struct {
	DryRun  bool     `json:"dryRun"`
	Damaged []string `json:"damaged"`          // what is wrong, a sentence for each database; empty: nothing was done
	Moved   []string `json:"moved,omitempty"`  // where the damaged files are now
	Backup  string   `json:"backup,omitempty"` // the copy of the state that was the base
	// Rows counts what was read from the damaged state, by table.
	Rows map[string]int `json:"rows,omitempty"`
	// Runs are those that only their directories knew.
	Runs []string `json:"runs,omitempty"`
	// OutputBytes were stored anew: from the damaged file, and from raw output.
	OutputBytes int64 `json:"outputBytes"`
	// Unknown tells what could not be brought back.
	Unknown []string `json:"unknown,omitempty"`
}

// Recover makes a home usable again whose databases are damaged. Nothing is
// deleted: damaged files are moved to the folder of damaged ones. The state is
// made of the newest copy, of all rows that can still be read, and of the run
// directories; output of what is as it was stored and of raw files, every byte
// once. What nothing tells is said, and not guessed. It may be repeated.
//
// It works without a daemon, and is refused while one runs: CodeRefused.
func Recover(ctx context.Context, o RecoverOptions) (RecoverReport, error) {
	report := RecoverReport{DryRun: o.DryRun, Damaged: []string{}}
	if err := checkHome(string(o.Home)); err != nil {
		return report, err
	}
	if err := PrepareHome(o.Home); err != nil {
		return report, err
	}
	lock, err := takeLock(ctx, o.Home)
	if err != nil {
		return report, err
	}
	defer lock.Unlock() // the end of the process does it too
	r := recovery{RecoverOptions: o, report: &report}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	return report, r.run(ctx)
}

// recovery is one call of Recover.
type recovery struct {
	RecoverOptions

	report *RecoverReport
	aside  string // where damaged files go
}

func (r *recovery) options() store.Options {
	return store.Options{Dir: string(r.Home), Version: r.Version, Log: r.Log, Boot: bootID(), Anew: true}
}

func (r *recovery) run(ctx context.Context) error {
	found, err := store.Diagnose(ctx, r.options())
	if err != nil {
		return err
	}
	for _, err := range []error{found.State, found.Log} {
		switch {
		case err == nil:
		case store.IsDamaged(err):
			r.report.Damaged = append(r.report.Damaged, err.Error())
		default:
			return err // a newer cw wrote it, or it cannot be read: nothing is damaged
		}
	}
	unfinished := r.unfinished()
	if r.DryRun || len(r.report.Damaged) == 0 && !unfinished {
		return nil
	}
	r.aside = filepath.Join(r.Home.Damaged(), r.Now().UTC().Format("20060102T150405.000"))
	if err := r.clear(ctx, found); err != nil {
		return err
	}
	db, err := store.Open(ctx, r.options())
	if err != nil {
		return err
	}
	return errors.Join(r.fill(ctx, db, found), db.Close())
}

// clear moves what is damaged aside and puts the newest copy of the state in
// its place. A note tells a recovery that was interrupted here where the damaged
// files are.
func (r *recovery) clear(ctx context.Context, found store.Diagnosis) error {
	for name, err := range map[string]error{store.StateName: found.State, store.LogName: found.Log} {
		if err == nil {
			continue
		}
		if err := r.note(); err != nil {
			return err
		}
		moved, err := store.SetAside(string(r.Home), name, r.aside)
		r.report.Moved = append(r.report.Moved, moved...)
		if err != nil {
			return err
		}
	}
	if plainExists(filepath.Join(string(r.Home), store.StateName)) {
		return nil
	}
	copied, err := store.PlaceBackup(ctx, string(r.Home))
	if err != nil {
		return fmt.Errorf("put a copy of the state in its place: %w", err)
	}
	r.report.Backup = copied
	return nil
}

// fill brings back what can be: rows, then runs, then output.
func (r *recovery) fill(ctx context.Context, db *store.DB, found store.Diagnosis) error {
	life, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- db.Run(life) }()
	defer func() { stop(); <-ended }()
	if err := r.salvage(ctx, db); err != nil {
		return err
	}
	if err := r.rebuild(ctx, db); err != nil {
		return err
	}
	if err := r.takeOutput(ctx, db); err != nil {
		return err
	}
	if found.State != nil {
		r.unknown("answers, messages and settings that were stored last may be missing: look at cw agent list")
	}
	return r.forget()
}

// salvage reads what can be read from the damaged files.
func (r *recovery) salvage(ctx context.Context, db *store.DB) error {
	for _, dir := range r.noted() {
		if path := filepath.Join(dir, store.StateName); plainExists(path) {
			rows, err := db.Salvage(ctx, path)
			r.report.Rows = rows
			if err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.unknown("the rest of the damaged state could not be read: " + err.Error())
			}
		}
		if path := filepath.Join(dir, store.LogName); plainExists(path) {
			n, err := db.SalvageChunks(ctx, path)
			r.report.OutputBytes += n
			if err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.unknown("the rest of the damaged output could not be read: " + err.Error())
			}
		}
	}
	return nil
}

// takeOutput stores raw output of runs that are over and that is not in chunks.
// Runs that go on are read by the next daemon.
func (r *recovery) takeOutput(ctx context.Context, db *store.DB) error {
	runs, err := db.EndedRuns(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		n, err := takeRaw(ctx, db, newMasks(r.Home), run, math.MaxInt64)
		r.report.OutputBytes += n
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.unknown(fmt.Sprintf("the raw output of %s could not be stored: %v", run, err))
			continue
		}
		if err := r.checkOutput(ctx, db, run); err != nil {
			return err
		}
	}
	return nil
}

// checkOutput says of a run whose raw file is gone that nothing tells whether
// its stored output is all there was.
func (r *recovery) checkOutput(ctx context.Context, db *store.DB, run store.EndedRun) error {
	if _, there := plainSize(run.OutputPath); there {
		return nil
	}
	next, err := db.NextOffset(ctx, run.AgentID, run.SessionNumber)
	if err == nil {
		r.unknown(fmt.Sprintf("the raw output of %s is gone; %d bytes of it are stored, and there may have been more", run, next))
	}
	return err
}

func (r *recovery) unknown(what string) {
	r.report.Unknown = append(r.report.Unknown, what)
	r.Log.Warn("recover", "unknown", what)
}
