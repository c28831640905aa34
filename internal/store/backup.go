package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

// LogSuffix is added to the name of a copy of cw.db for that of log.db.
const LogSuffix = ".log"

const (
	// backupEvery is the time between two copies of the state that nobody asked
	// for, and dailyKept how many of these are kept.
	backupEvery = 24 * time.Hour
	dailyKept   = 3
	// migrationsKept is how many copies made before migrations are kept, of each
	// database.
	migrationsKept = 5
	// backupTime is how the time stands in the name of a copy.
	backupTime = "20060102T150405"
	dailyWord  = "daily"
)

// Backup copies the state to path, and with logs the chunks beside it. The
// copies are those of one moment each, readable for their owner alone, and
// were read whole before they got their names. Readers and writers go on
// meanwhile. CodeRefused when something is there, CodeFailed when a copy cannot
// be written.
func (db *DB) Backup(ctx context.Context, path string, logs bool) ([]string, error) {
	files, from := []string{path}, []*database{db.state}
	if logs {
		files, from = append(files, path+LogSuffix), append(from, db.log)
	}
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return nil, cw.Errorf(cw.CodeRefused, "there is something at %s", file).WithHint("choose another path; a backup never replaces anything")
		}
	}
	for i, d := range from {
		if err := d.copyTo(ctx, files[i]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// copyTo copies the database on a connection of its own, so that no writer
// waits for it.
func (d *database) copyTo(ctx context.Context, path string) error {
	half := filepath.Join(filepath.Dir(path), ".cw-"+cw.NewID()+".half")
	err := d.copyHalf(ctx, half)
	if err == nil {
		err = nameCopy(half, path)
	}
	if err == nil || ctx.Err() != nil {
		return errors.Join(ctx.Err(), os.RemoveAll(half))
	}
	var own *cw.Error
	if err = errors.Join(err, os.RemoveAll(half)); errors.As(err, &own) {
		return own
	}
	return cw.Errorf(cw.CodeFailed, "the backup %s cannot be written", path).
		WithHint("its folder must be there, writable for you and on a disk with enough space").Because(err)
}

func (d *database) copyHalf(ctx context.Context, half string) (err error) {
	if err := touchPrivate(half); err != nil { // VACUUM INTO fills an empty file
		return err
	}
	pool, err := sql.Open(driverName, dsn(d.path, url.Values{
		"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())},
	}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", half); err != nil {
		if diskFull(err) {
			return err // of the copy's disk, not of ours
		}
		return explain(d.path, err)
	}
	return verify(ctx, half)
}

// nameCopy gives a verified copy its name, which nothing has.
func nameCopy(half, path string) error {
	err := os.Link(half, path) // unlike a rename it replaces nothing
	if errors.Is(err, fs.ErrExist) {
		return cw.Errorf(cw.CodeRefused, "there is something at %s", path).WithHint("choose another path; a backup never replaces anything")
	}
	if err != nil { // not every file system has links
		err = os.Rename(half, path)
	}
	if err != nil {
		return err
	}
	return syncPath(filepath.Dir(path))
}

// checkReferences finds rows that name what is not there.
func checkReferences(ctx context.Context, pool *sql.DB, path string) error {
	rows, err := pool.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	if rows.Next() {
		return damaged(path).Because(errors.New("foreign_key_check: rows refer to rows that are missing"))
	}
	return rows.Err()
}

// BackupFile is a copy of a database in the folder of backups.
type BackupFile struct {
	Path     string
	Database string // "cw" or "log"
	Daily    bool   // else it was made before a migration
	At       time.Time
	Bytes    int64
}

// Backups lists the copies that cw made by itself in a home, newest first.
// What has no name of ours is left out.
func Backups(home string) ([]BackupFile, error) {
	entries, err := os.ReadDir(backupDir(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var out []BackupFile
	for _, e := range entries {
		b, ours := parseBackup(e.Name())
		info, err := e.Info()
		if !ours || err != nil || !info.Mode().IsRegular() {
			continue
		}
		b.Path, b.Bytes = filepath.Join(backupDir(home), e.Name()), info.Size()
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b BackupFile) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Path, b.Path)) })
	return out, nil
}

// parseBackup reads a name: cw-4-20260102T030405.db or cw-daily-20260102T030405.db.
func parseBackup(name string) (BackupFile, bool) {
	parts := strings.Split(strings.TrimSuffix(name, ".db"), "-")
	if !strings.HasSuffix(name, ".db") || len(parts) != 3 || parts[0] != "cw" && parts[0] != "log" {
		return BackupFile{}, false
	}
	at, err := time.Parse(backupTime, parts[2])
	return BackupFile{Database: parts[0], Daily: parts[1] == dailyWord, At: at}, err == nil
}

// OldBackups are those of a list, newest first, that are kept no longer.
func OldBackups(all []BackupFile) []BackupFile {
	type kind struct {
		database string
		daily    bool
	}
	seen := map[kind]int{}
	var old []BackupFile
	for _, b := range all {
		k, keep := kind{b.Database, b.Daily}, migrationsKept
		if b.Daily {
			keep = dailyKept
		}
		if seen[k]++; seen[k] > keep {
			old = append(old, b)
		}
	}
	return old
}

// BackupDaily copies the state into the folder of backups unless there is a
// copy of today. It gives the path of the copy, "" for none.
func (db *DB) BackupDaily(ctx context.Context) (string, error) {
	home := filepath.Dir(db.state.path)
	all, err := Backups(home)
	if err != nil {
		return "", err
	}
	now := db.now().UTC()
	for _, b := range all {
		if b.Database == "cw" && b.Daily && now.Sub(b.At) < backupEvery {
			return "", nil
		}
	}
	if err := os.MkdirAll(backupDir(home), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of backups: %w", err)
	}
	path := filepath.Join(backupDir(home), "cw-"+dailyWord+"-"+now.Format(backupTime)+".db")
	_, err = db.Backup(ctx, path, false)
	return path, err
}
