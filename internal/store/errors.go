package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cw/internal/cw"
)

// explain turns what the driver says about the database at path into an error
// for people. It is the one place that knows the driver's codes; gorm's own
// translation does not know this driver.
//
// Errors of cw pass as they are, and so does what carries no code.
func explain(path string, err error) error {
	var own *cw.Error
	var sqlErr *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &sqlErr):
		if told := explainCode(path, sqlErr.Code()); told != nil {
			return told.Because(err)
		}
		if lacksPart(err) {
			return damaged(path).Because(err)
		}
	case strings.Contains(err.Error(), "sql: Scan error"):
		return damaged(path).Because(err) // whatever cw writes can be read into what it was written from
	}
	return err
}

// explainCode is the table from SQLite's extended result codes to errors for
// people; nil for codes that only a bug can cause.
func explainCode(path string, code int) *cw.Error {
	name := filepath.Base(path)
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return cw.Errorf(cw.CodeRefused, "it exists already")
	}
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return cw.Errorf(cw.CodeFailed, "the disk that holds %s is full", name).
			WithHint("free space on the file system of %s; agents run on and nothing is lost", filepath.Dir(path))
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(path)
	case sqlite3.SQLITE_IOERR:
		return cw.Errorf(cw.CodeFailed, "the disk that holds %s reported an error", name).
			WithHint("check the file system of %s and its free space, then run: cw restart", filepath.Dir(path))
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return cw.Errorf(cw.CodeFailed, "the database %s is locked by another program", name).
			WithHint("close the program that has %s open and try again", path)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return unwritable(path)
	}
	return nil
}

// damaged says that a database cannot be read, and that nobody touched it.
func damaged(path string) *cw.Error {
	return cw.Errorf(cw.CodeFailed, "the database %s is damaged", path).
		WithHint("run: cw recover; it moves the file aside, never overwrites it, and rebuilds from what can still be read, the copies in %s and the run directories",
			backupDir(filepath.Dir(path)))
}

// unwritable says that cw may not write where its databases are.
func unwritable(path string) *cw.Error {
	return cw.Errorf(cw.CodeFailed, "cannot write the database %s", path).
		WithHint("check the owner and permissions of %s, or set CW_HOME to a folder of your own", filepath.Dir(path))
}

// newer says that a later cw wrote the database.
func newer(path, version string, found, known int64) *cw.Error {
	return cw.Errorf(cw.CodeRefused, "the database %s was written by a newer cw: it has schema %d, this cw %s knows schema %d",
		path, found, version, known).
		WithHint("upgrade cw, or put an older copy from %s in its place", backupDir(filepath.Dir(path)))
}

// isSQLError tells whether a statement does not fit the schema.
func isSQLError(err error) bool {
	var sqlErr *sqlite.Error
	return errors.As(err, &sqlErr) && sqlErr.Code() == sqlite3.SQLITE_ERROR
}

// lacksPart tells whether a statement names a table or a column that is gone.
// Every statement fits the schema that the migrations made, so the schema itself
// is spoilt; SQLite has one code for this and for every fault of a statement.
func lacksPart(err error) bool {
	return isSQLError(err) && (strings.Contains(err.Error(), "no such ") || strings.Contains(err.Error(), "has no column named"))
}

// syncFailed tells whether a failed sync leaves it unknown what is on disk.
// Syncing again may wrongly succeed (the kernel forgets the error), so such a
// database must be opened anew.
func syncFailed(err error) bool {
	var sqlErr *sqlite.Error
	if !errors.As(err, &sqlErr) {
		return false
	}
	return sqlErr.Code() == sqlite3.SQLITE_IOERR_FSYNC || sqlErr.Code() == sqlite3.SQLITE_IOERR_DIR_FSYNC
}

// inAct names the act in an error that is not meant for people.
func inAct(act string, err error) error {
	var own *cw.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return fmt.Errorf("%s: %w", act, err)
}
