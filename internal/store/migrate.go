package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// versionTable is where goose counts the migrations that were done.
const versionTable = "goose_db_version"

//go:embed migrations
var embedded embed.FS

// stateMigrations and logMigrations are numbered SQL files, one transaction
// each, forward only.
func stateMigrations() (fs.FS, error) { return fs.Sub(embedded, "migrations/state") }

func logMigrations() (fs.FS, error) { return fs.Sub(embedded, "migrations/log") }

// backupDir is where copies of databases are kept.
func backupDir(home string) string { return filepath.Join(home, "backups") }

// latest gives the greatest number among the migrations.
func latest(migrations fs.FS) (int64, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return 0, err
	}
	var last int64
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s has no number: %w", name, err)
		}
		last = max(last, n)
	}
	return last, nil
}

// migrate brings the schema from version found to the latest. A database that
// holds something is copied first, and the copy is verified.
func (d *database) migrate(ctx context.Context, p plan, found int64) error {
	last, err := latest(p.migrations)
	if err != nil || found == last {
		return err
	}
	if found > 0 {
		copied, err := d.backup(ctx, p, found)
		if err != nil {
			return inAct("back up "+p.path+" before migrating it", err)
		}
		p.log.InfoContext(ctx, "database backed up before a migration", "database", p.path, "backup", copied)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, d.writer, p.migrations,
		goose.WithSlog(p.log), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate %s from schema %d to %d: %w", p.path, found, last, err)
	}
	p.log.InfoContext(ctx, "database migrated", "database", p.path, "from", found, "to", last)
	return nil
}

// backup copies the database and verifies the copy. Its name tells the schema
// and the time: cw-1-20260102T030405.db. It has this name only once verified.
func (d *database) backup(ctx context.Context, p plan, version int64) (string, error) {
	dir := backupDir(filepath.Dir(p.path))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	base := strings.TrimSuffix(filepath.Base(p.path), ".db")
	final := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.db", base, version, p.now().UTC().Format("20060102T150405")))
	half := final + ".half"
	if err := os.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := touchPrivate(half); err != nil { // VACUUM INTO fills an empty file
		return "", err
	}
	if _, err := d.writer.ExecContext(ctx, "VACUUM INTO ?", half); err != nil {
		return "", errors.Join(explain(p.path, err), os.Remove(half))
	}
	if err := verify(ctx, half); err != nil {
		return "", errors.Join(err, os.Remove(half))
	}
	if err := os.Rename(half, final); err != nil {
		return "", err
	}
	return final, syncPath(dir)
}

// verify reads a whole copy, and makes sure that it is on disk.
func verify(ctx context.Context, path string) (err error) {
	pool, err := sql.Open(driverName, dsn(path, url.Values{"mode": {"ro"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := checkWhole(ctx, pool, path, "integrity_check"); err != nil {
		return err
	}
	if err := checkReferences(ctx, pool, path); err != nil {
		return err
	}
	return syncPath(path)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
