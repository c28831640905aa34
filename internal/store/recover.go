package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cw/internal/cw"
)

// Diagnosis is what a look at the databases of a home found.
type Diagnosis struct {
	State error // nil: whole, or never made
	Log   error
}

// Diagnose reads both databases whole and changes nothing. No daemon may run.
func Diagnose(ctx context.Context, o Options) (Diagnosis, error) {
	state, err := stateMigrations()
	if err != nil {
		return Diagnosis{}, err
	}
	chunks, err := logMigrations()
	if err != nil {
		return Diagnosis{}, err
	}
	var d Diagnosis
	if d.State = checkInUse(o.Dir); d.State == nil {
		d.State = diagnose(ctx, plan{path: filepath.Join(o.Dir, stateName), sealed: true, boot: o.Boot, migrations: state, version: o.Version})
	}
	path := filepath.Join(o.Dir, logName)
	if d.Log = diagnose(ctx, plan{path: path, migrations: chunks, version: o.Version}); d.Log == nil {
		d.Log = diagnoseChunks(ctx, path)
	}
	return d, ctx.Err()
}

// summedSince is the schema since which stored output has sums.
const summedSince = 2

// diagnoseChunks reads all stored output, as its readers do.
func diagnoseChunks(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil // there is none yet
	}
	pool, err := openSalvage(path)
	if err != nil {
		return explain(path, err)
	}
	return explain(path, errors.Join(checkChunks(ctx, pool, path), pool.Close()))
}

func checkChunks(ctx context.Context, pool *sql.DB, path string) error {
	var summed, dated int
	var version int64
	err := pool.QueryRowContext(ctx, "SELECT COUNT(CASE WHEN name = 'sum' THEN 1 END), COUNT(CASE WHEN name = 'created_at' AND type = 'DATETIME' THEN 1 END)"+
		" FROM pragma_table_info('"+chunkTable+"')").Scan(&summed, &dated)
	if err == nil && summed == 0 {
		err = pool.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+versionTable+" WHERE is_applied = 1").Scan(&version)
	}
	switch {
	case err == nil && dated == 0:
		return damaged(path).Because(errors.New("the chunks have no time that can be read"))
	case err == nil && summed == 0 && version >= summedSince:
		return damaged(path).Because(errors.New("the chunks have no column sum"))
	case err != nil || summed == 0:
		return err // of an earlier cw
	}
	rows, err := pool.QueryContext(ctx, "SELECT agent_id, agent_name, session_number, offset, bytes, sum FROM "+chunkTable+
		" ORDER BY agent_id, session_number, offset")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is rows.Err
	var before []cw.Chunk
	for rows.Next() {
		var c cw.Chunk
		var sum sql.NullInt64
		if err := rows.Scan(&c.AgentID, &c.AgentName, &c.SessionNumber, &c.Offset, &c.Bytes, &sum); err != nil {
			return err
		}
		if len(before) > 0 && before[0].AgentID != c.AgentID {
			before = nil
		}
		if err := checkStored(c, sum, before); err != nil {
			return damaged(path).Because(err)
		}
		before = []cw.Chunk{c}
	}
	return rows.Err()
}

func diagnose(ctx context.Context, p plan) error {
	if version, err := inspect(ctx, p); err != nil || version == 0 {
		return explain(p.path, err)
	}
	pool, err := openSalvage(p.path)
	if err != nil {
		return explain(p.path, err)
	}
	return explain(p.path, errors.Join(checkWhole(ctx, pool, p.path, "integrity_check"), pool.Close()))
}

// IsDamaged tells whether an error of Open or Diagnose says that a database is
// damaged, and not, say, of a newer cw.
func IsDamaged(err error) bool {
	return cw.ErrorCode(err) == cw.CodeFailed && strings.Contains(err.Error(), "is damaged")
}

// SetAside moves a database with everything that belongs to it into a folder,
// which is made. Nothing is deleted.
func SetAside(home, name, to string) ([]string, error) {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", to, err)
	}
	var moved []string
	// The database goes last: while it is there, it is known that the rest is missing.
	for _, end := range []string{"-shm", "-wal", "", "-seal"} {
		target := filepath.Join(to, name+end)
		err := os.Rename(filepath.Join(home, name+end), target)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return moved, fmt.Errorf("set %s aside: %w", name+end, err)
		}
		moved = append(moved, target)
	}
	return moved, errors.Join(syncPath(to), syncPath(home))
}

// The databases' names, for SetAside.
const (
	StateName = stateName
	LogName   = logName
)

// PlaceBackup puts the newest copy of the state that can be read whole into an
// empty home, and tells which; "" when there is none.
func PlaceBackup(ctx context.Context, home string) (string, error) {
	all, err := Backups(home)
	if err != nil {
		return "", err
	}
	for _, b := range all {
		if b.Database != "cw" || verify(ctx, b.Path) != nil {
			continue
		}
		return b.Path, copyFile(b.Path, filepath.Join(home, stateName))
	}
	return "", nil
}

// copyFile makes a file that is there whole or not at all.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	half := to + ".half"
	out, err := os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(half))
	}
	return errors.Join(os.Rename(half, to), syncPath(filepath.Dir(to)))
}
