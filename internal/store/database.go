package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"cw/internal/cw"
)

// Limits of one database.
const (
	readersMax    = 4                      // connections that read
	busyTimeout   = 10 * time.Second       // waiting for a lock of another program
	slowStatement = 250 * time.Millisecond // told in the log
	logKeep       = 64 << 20               // bytes of log.db's write-ahead log kept after a checkpoint
	stateKeep     = 4 << 20                // the same of cw.db; a longer one is soon checkpointed
)

// driverName is the name under which modernc.org/sqlite registers: pure Go, so
// that the program is one static file.
const driverName = "sqlite"

// database is one SQLite file: one connection that writes and a few that read.
// In WAL mode readers never wait for the writer, nor the writer for them.
type database struct {
	path  string
	write *gorm.DB
	read  *gorm.DB
	// writer is the connection below write.
	writer *sql.DB
	reader *sql.DB
	asked  prepared // of reader
	// turn is held by the one who writes, until what it wrote is told.
	turn chan struct{}
	// broken is set when a sync failed: nothing is written after that, and down is
	// closed.
	broken atomic.Bool
	down   chan struct{}
	// sealed: checkpoints are made by transact, each with a new seal.
	sealed   bool
	boot     string
	unsealed int      // transactions since the last checkpoint; who has the turn
	sums     []byte   // of the pages as the seal says; nil: not known; who has the turn
	reserve  *reserve // checkpoints wait while it is touched
}

// plan says how a database is opened.
type plan struct {
	path        string
	synchronous string // FULL or NORMAL
	checkpoint  int    // pages of write-ahead log at which it is copied into the file; 0: see seal
	walKeep     int    // bytes of write-ahead log kept after a checkpoint
	sealed      bool   // the file has a seal
	reserve     *reserve
	boot        string // of the machine
	migrations  fs.FS
	version     string // of this program, for messages
	log         *slog.Logger
	now         func() time.Time
}

// openDatabase checks the file without writing to it, opens it, and brings its
// schema up to date. A file that is damaged or too new is left as it is.
func openDatabase(ctx context.Context, p plan) (*database, error) {
	found, err := inspect(ctx, p)
	if err != nil {
		return nil, explain(p.path, err)
	}
	if err := touchPrivate(p.path); err != nil {
		return nil, unwritable(p.path).Because(err)
	}
	if found == 0 {
		if err := beginShrinkable(ctx, p.path); err != nil {
			return nil, explain(p.path, err)
		}
	} else if err := convert(ctx, p); err != nil {
		p.log.WarnContext(ctx, "a database cannot be made to shrink", "database", p.path, "error", err)
	}
	d, err := connect(p)
	if err != nil {
		return nil, explain(p.path, err)
	}
	if err := d.migrate(ctx, p, found); err != nil {
		return nil, errors.Join(explain(p.path, err), d.close())
	}
	return d, nil
}

// touchPrivate makes the file, readable for its owner only. SQLite gives its
// -wal and -shm files the same mode.
func touchPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func connect(p plan) (*database, error) {
	d := &database{path: p.path, turn: make(chan struct{}, 1), down: make(chan struct{}), sealed: p.sealed, boot: p.boot, reserve: p.reserve}
	var err error
	if d.writer, d.write, err = openPool(p, writerDSN(p), 1); err != nil {
		return nil, err
	}
	if d.reader, d.read, err = openPool(p, readerDSN(p), readersMax); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	return d, nil
}

func openPool(p plan, dsn string, size int) (*sql.DB, *gorm.DB, error) {
	pool, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, nil, err
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	g, err := gorm.Open(gormsqlite.New(gormsqlite.Config{DriverName: driverName, Conn: pool}), &gorm.Config{
		SkipDefaultTransaction: true,
		PrepareStmt:            true,
		NowFunc:                func() time.Time { return p.now().UTC() },
		// PID is no abbreviation that gorm knows; it would become p_id.
		NamingStrategy: schema.NamingStrategy{NameReplacer: strings.NewReplacer("PID", "Pid")},
		Logger:         slowLog{log: p.log, over: slowStatement},
	})
	if err != nil {
		return nil, nil, errors.Join(err, pool.Close())
	}
	return pool, g, nil
}

// writerDSN locks at the start of a transaction: what it reads stays true
// until it commits, and it cannot fail in the middle for want of the lock.
func writerDSN(p plan) string {
	return dsn(p.path, url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
			"journal_mode(WAL)",
			"synchronous(" + p.synchronous + ")",
			"foreign_keys(1)",
			"cell_size_check(1)",
			fmt.Sprintf("journal_size_limit(%d)", p.walKeep),
			fmt.Sprintf("wal_autocheckpoint(%d)", p.checkpoint),
		},
	})
}

func readerDSN(p plan) string {
	return dsn(p.path, url.Values{
		"mode": {"rw"}, // not ro: a reader too may have to read the write-ahead log in
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
			"cell_size_check(1)",
			"query_only(1)",
		},
	})
}

// dsn names a file with its parameters. Times are written in UTC and in a form
// that sorts; a word in double quotes is never taken for a string.
func dsn(path string, params url.Values) string {
	params.Set("_time_format", "sqlite")
	params.Set("_timezone", "UTC")
	params.Set("_dqs", "0")
	params.Set("_error_rc", "1")
	return (&url.URL{Scheme: "file", Path: path, RawQuery: params.Encode()}).String()
}

// transact runs one write transaction, then told, before anybody else writes.
// told may be nil; it must not write to the same database.
func (d *database) transact(ctx context.Context, now time.Time, do func(g *gorm.DB) error, told func()) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.turn }()
	if err := d.usable(); err != nil {
		return err
	}
	session := d.write.Session(&gorm.Session{Context: ctx, NowFunc: func() time.Time { return now }})
	if err := d.note(session.Transaction(do)); err != nil {
		return letGo(ctx, err)
	}
	if told != nil {
		told()
	}
	d.checkpointNowAndThen(ctx)
	return nil
}

// snapshot runs queries that all see the same state.
func (d *database) snapshot(ctx context.Context, do func(g *gorm.DB) error) error {
	err := d.read.WithContext(ctx).Transaction(do, &sql.TxOptions{ReadOnly: true})
	return letGo(ctx, explain(d.path, err))
}

// letGo tells that the caller let go, when that is why something failed: the
// driver and database/sql have several words for it.
func letGo(ctx context.Context, err error) error {
	var own *cw.Error
	if err == nil || ctx.Err() == nil || errors.As(err, &own) {
		return err
	}
	return ctx.Err()
}

// usable refuses writing after a failed sync.
func (d *database) usable() error {
	if !d.broken.Load() {
		return nil
	}
	return cw.Errorf(cw.CodeFailed, "the disk did not keep what was written to %s, so cw writes no more to it", d.path).
		WithHint("check the file system, then run: cw restart; agents run on and nothing of theirs is lost")
}

// note remembers a failed sync and explains the error.
func (d *database) note(err error) error {
	if syncFailed(err) && d.broken.CompareAndSwap(false, true) {
		close(d.down)
	}
	return explain(d.path, err)
}

// size gives the bytes of the database and its write-ahead log.
func (d *database) size() (int64, error) {
	var sum int64
	for _, path := range []string{d.path, d.path + "-wal"} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

func (d *database) close() error {
	if d.sealed {
		return d.closeSealed()
	}
	return errors.Join(d.reader.Close(), d.writer.Close())
}
