package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// inspectMax is the size up to which a database is checked whole before it is
// opened. Larger ones are checked page by page as they are read, so that a
// start takes no minutes.
const inspectMax = 64 << 20

// sqliteMin is the oldest SQLite that may write: earlier ones can lose commits
// when a write-ahead log is reset while another connection checkpoints.
const sqliteMin = "3.51.3"

// inspect looks at a database without writing to it and gives its schema
// version: 0 for a file that is not there or empty. It fails when the file is
// damaged, not of cw, or written by a newer cw.
func inspect(ctx context.Context, p plan) (version int64, err error) {
	if p.sealed {
		if err := checkSeal(p.path, p.boot); err != nil {
			return 0, err
		}
	}
	info, err := os.Stat(p.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, unwritable(p.path).Because(err)
	}
	if !info.Mode().IsRegular() {
		return 0, damaged(p.path).Because(fmt.Errorf("it is no regular file: %s", info.Mode()))
	}
	pool, err := sql.Open(driverName, dsn(p.path, url.Values{
		"mode":    {"ro"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "cell_size_check(1)"},
	}))
	if err != nil {
		return 0, err
	}
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, pool.Close()) }()

	version, err = schemaVersion(ctx, pool, p)
	if isSQLError(err) {
		return 0, damaged(p.path).Because(err) // these statements are right for every database of ours
	}
	if err != nil {
		return 0, err
	}
	known, err := latest(p.migrations)
	if err != nil {
		return 0, err
	}
	if version > known {
		return 0, newer(p.path, p.version, version, known)
	}
	if info.Size() > inspectMax {
		return version, nil
	}
	return version, checkWhole(ctx, pool, p.path, "quick_check")
}

// checkLibrary refuses to work with a SQLite that is too old.
func checkLibrary(ctx context.Context) (err error) {
	pool, err := sql.Open(driverName, ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var have string
	if err := pool.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&have); err != nil {
		return err
	}
	if older(have, sqliteMin) {
		return fmt.Errorf("this cw was built with SQLite %s, which can damage databases; it needs %s", have, sqliteMin)
	}
	return nil
}

// older compares dotted versions.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range bs {
		if i >= len(as) {
			return true
		}
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX != nil || errY != nil || x != y {
			return x < y
		}
	}
	return false
}

// schemaVersion reads the number of the last migration. A database that has
// tables but none of ours belongs to another program.
func schemaVersion(ctx context.Context, pool *sql.DB, p plan) (int64, error) {
	var tables, ours int
	err := pool.QueryRowContext(ctx,
		"SELECT COUNT(*), COUNT(CASE WHEN name = '"+versionTable+"' THEN 1 END) FROM sqlite_schema WHERE type = 'table'").
		Scan(&tables, &ours)
	if err != nil || tables == 0 {
		return 0, err
	}
	if ours == 0 {
		return 0, damaged(p.path).Because(errors.New("it is a database of another program"))
	}
	var version int64
	err = pool.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+versionTable+" WHERE is_applied = 1").Scan(&version)
	return version, err
}

// checkWhole reads every page. check is quick_check or the slower
// integrity_check, which compares indexes with tables too.
func checkWhole(ctx context.Context, pool *sql.DB, path, check string) error {
	var verdict string
	if err := pool.QueryRowContext(ctx, "PRAGMA "+check+"(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return damaged(path).Because(fmt.Errorf("%s: %s", check, verdict))
	}
	return nil
}
