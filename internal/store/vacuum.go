package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

const (
	// vacuumPages is how many pages one slice of Vacuum gives back: who wants to
	// write waits for it.
	vacuumPages = 256
	// convertMax is the size up to which a database of an earlier cw is rewritten
	// at the start, so that it can shrink. Larger ones keep their size and use
	// what is free in them.
	convertMax = 64 << 20
)

// Vacuum gives free pages of both databases back to the file system, at most
// 256 of each at once. It tells how many are left.
func (db *DB) Vacuum(ctx context.Context) (left int, err error) {
	for _, d := range []*database{db.state, db.log} {
		n, vacuumErr := d.vacuum(ctx)
		left += n
		err = errors.Join(err, vacuumErr)
	}
	return left, inAct("give back free pages", err)
}

// vacuum is one slice.
func (d *database) vacuum(ctx context.Context) (left int, err error) {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-d.turn }()
	if err := d.usable(); err != nil {
		return 0, err
	}
	var mode int
	if err := d.writer.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode); err != nil || mode != 2 {
		return 0, d.note(err)
	}
	rows, err := d.writer.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages))
	if err != nil {
		return 0, d.note(err)
	}
	for rows.Next() { // a row per page
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil { //nolint:sqlclosecheck // it must be closed before the next statement
		return 0, d.note(err)
	}
	err = d.writer.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&left)
	return left, d.note(err)
}

// walSpare is the size up to which the write-ahead log of chunks may stay as it
// is on a full disk.
const walSpare = 1 << 20

// ShrinkWAL copies the write-ahead log of chunks into its file and gives its
// space back: SQLite keeps the largest it ever had, which a small disk cannot
// spare. A reader that is at work just now leaves it for the next call.
func (db *DB) ShrinkWAL(ctx context.Context) error {
	d := db.log
	info, err := os.Stat(d.path + "-wal")
	if err != nil || info.Size() <= walSpare {
		return nil // it is small, or there is none
	}
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.turn }()
	if err := d.usable(); err != nil {
		return err
	}
	var busy, pages, copied int
	err = d.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied)
	return inAct("shrink the write-ahead log", d.note(err))
}

// beginShrinkable writes the first page of a new database, which says for ever
// that free pages can be given back. In write-ahead mode it would be too late.
func beginShrinkable(ctx context.Context, path string) error {
	pool, err := sql.Open(driverName, dsn(path, url.Values{"mode": {"rw"}, "_pragma": {"auto_vacuum(INCREMENTAL)"}}))
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	_, err = pool.ExecContext(ctx, "PRAGMA user_version = 0") // makes the page
	return errors.Join(err, pool.Close())
}

// convert lets a database of an earlier cw shrink: that needs a rewrite of all
// of it, once. Nobody may have it open: a connection learns from the first page
// of the file alone that pages have owners.
func convert(ctx context.Context, p plan) error {
	shrinks, size, err := shrinkable(p.path)
	if err != nil || shrinks || size > convertMax {
		return err
	}
	if p.sealed {
		if err := breakSeal(p.path); err != nil {
			return err
		}
	}
	pool, err := sql.Open(driverName, dsn(p.path, url.Values{"mode": {"rw"}}))
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1) // the first pragma holds for one connection alone
	for _, say := range []string{"PRAGMA auto_vacuum = INCREMENTAL", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err == nil {
			_, err = pool.ExecContext(ctx, say)
		}
	}
	return errors.Join(err, pool.Close())
}

// shrinkable reads from a database's head whether free pages can be given back.
func shrinkable(path string) (bool, int64, error) {
	const incremental = 64 // where the head says so, in four bytes
	f, err := os.Open(path)
	if err != nil {
		return false, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, 0, err
	}
	var said [4]byte
	_, err = f.ReadAt(said[:], incremental)
	return said != [4]byte{}, info.Size(), err
}

// LiveBytes gives the bytes of the chunks' database that are in use.
func (db *DB) LiveBytes(ctx context.Context) (int64, error) {
	var pages, free, size int64
	for name, to := range map[string]*int64{"page_count": &pages, "freelist_count": &free, "page_size": &size} {
		if err := scanPragma(ctx, db.log.reader, name, to); err != nil {
			return 0, inAct("measure the output", explain(db.log.path, err))
		}
	}
	return (pages - free) * size, nil
}

func scanPragma(ctx context.Context, pool *sql.DB, name string, to *int64) error {
	return pool.QueryRowContext(ctx, "PRAGMA "+name).Scan(to)
}
