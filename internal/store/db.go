package store

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"cw/internal/cw"
)

// Names of the databases inside the home folder.
const (
	stateName = "cw.db"
	logName   = "log.db"
)

// logCheckpoint is when the write-ahead log of the chunks is copied into the
// file, in pages of 4 KiB. It grows fast and holds the same pages of the index
// many times: the later it is copied, the fewer are written twice.
const logCheckpoint = 4000

// Options say where the databases are and who wants to know of changes.
type Options struct {
	Dir     string       // the home folder of cw; made, 0700, when it is not there
	Version string       // of this program, for messages
	Log     *slog.Logger // nil: silent. Never gets a value that is stored
	// Reserve is a file that only takes space, for the state on a full disk; "":
	// none is kept. KeepReserve makes it.
	Reserve string
	// Boot names the boot of the machine: after a death of the process alone
	// more must be on disk than after a power cut. "": it is not known.
	Boot string
	// OnCommit is told the events of each transaction after it was committed,
	// in the order of their numbers. The next transaction waits for it, so it
	// must be quick and must not write to the store. May be nil.
	OnCommit func([]cw.Event)
	Anew     bool             // a recovery: a state that is gone is made anew
	Now      func() time.Time // nil: time.Now
	Guards   cw.Guards        // lets tests take a guard out; nil leaves all in place
}

// DB is the store. It is safe for concurrent use; writers take turns, readers
// never wait.
type DB struct {
	state    *database
	log      *database
	reserve  *reserve
	dropped  dropped // runs whose output is kept no longer
	now      func() time.Time
	onCommit func([]cw.Event)
	guards   cw.Guards
	appends  chan *appendCall // to Run
	waiting  atomic.Int64     // calls of AppendChunks under way
	stopped  chan struct{}    // closed when Run has ended
}

// Open opens both databases, makes them when they are not there, and brings
// their schemas up to date after a verified backup. It starts nothing.
//
// CodeFailed when a database is damaged (it is left as it is) or cannot be
// written, CodeRefused when a newer cw wrote it.
func Open(ctx context.Context, o Options) (*DB, error) {
	state, err := stateMigrations()
	if err != nil {
		return nil, err
	}
	chunks, err := logMigrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, state, chunks)
}

// open is Open with other migrations.
func open(ctx context.Context, o Options, state, chunks fs.FS) (*DB, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritable(filepath.Join(dir, stateName)).Because(err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := checkLibrary(ctx); err != nil {
		return nil, err
	}
	if err := checkInUse(dir); err != nil && !o.Anew {
		return nil, err
	}
	space := newReserve(o.Reserve, o.Now)
	p := plan{version: o.Version, log: o.Log, now: o.Now, reserve: space}
	p.path, p.synchronous, p.checkpoint, p.migrations = filepath.Join(dir, stateName), "FULL", 0, state
	p.walKeep, p.sealed, p.boot = stateKeep, true, o.Boot
	db := &DB{now: o.Now, onCommit: o.OnCommit, guards: o.Guards, reserve: space, appends: make(chan *appendCall), stopped: make(chan struct{})}
	if db.state, err = openDatabase(ctx, p); err != nil {
		return nil, err
	}
	p.path, p.synchronous, p.checkpoint, p.migrations = filepath.Join(dir, logName), "NORMAL", logCheckpoint, chunks
	p.walKeep, p.sealed = logKeep, false
	if db.log, err = openDatabase(ctx, p); err != nil {
		return nil, errors.Join(err, db.state.close())
	}
	if err := errors.Join(db.state.beginSealing(ctx), db.readDropped(ctx)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkInUse finds a state database that is gone or was emptied: SQLite takes
// both for a new one, and every agent would be forgotten. log.db is only ever
// made after cw.db has pages, and run directories after both.
func checkInUse(dir string) error {
	path := filepath.Join(dir, stateName)
	is := "it is empty"
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		is = "it is gone"
	case err != nil || info.Size() > 0:
		return nil // what is wrong with it is told by whoever opens it
	}
	runs, _ := os.ReadDir(cw.Home(dir).Runs()) // none: nothing ever ran
	if chunks, err := os.Stat(filepath.Join(dir, logName)); len(runs) == 0 && (err != nil || chunks.Size() == 0) {
		return nil
	}
	return damaged(path).Because(errors.New(is + ", but it was in use"))
}

// Close closes both databases. Run must have ended.
func (db *DB) Close() error {
	return errors.Join(db.state.close(), db.log.close())
}

// Sizes gives the bytes on disk of the state and of the chunks.
func (db *DB) Sizes(context.Context) (state, log int64, err error) {
	state, errState := db.state.size()
	log, errLog := db.log.size()
	return state, log, errors.Join(errState, errLog)
}

// tx is one write transaction of the state: one intention at one time.
type tx struct {
	*gorm.DB
	now    time.Time
	events []cw.Event
}

// change runs one write transaction and tells its events once it is committed.
// act names it in errors. Times that the caller left empty become its time. On
// a full disk it is tried again in space that was set aside, so do may be called
// several times.
func (db *DB) change(ctx context.Context, act string, do func(t *tx) error) error {
	err := db.tryChange(ctx, do)
	for diskFull(err) && ctx.Err() == nil && db.reserve.giveUp() {
		err = db.tryChange(ctx, do)
	}
	return inAct(act, err)
}

func (db *DB) tryChange(ctx context.Context, do func(t *tx) error) error {
	t := &tx{now: db.now().UTC().Round(0)} // without the monotonic reading: as it will be read back
	return db.state.transact(ctx, t.now,
		func(g *gorm.DB) error {
			t.DB = g
			return do(t)
		},
		func() {
			if db.onCommit != nil && len(t.events) > 0 {
				db.onCommit(t.events)
			}
		})
}

// query reads the state at one moment. act names it in errors.
func (db *DB) query(ctx context.Context, act string, do func(g *gorm.DB) error) error {
	return inAct(act, db.state.snapshot(ctx, do))
}

// one loads the row that the condition selects into row, and tells whether
// there is one.
func one(g *gorm.DB, row any, where string, args ...any) (bool, error) {
	found := g.Where(where, args...).Limit(1).Find(row)
	return found.RowsAffected == 1, found.Error
}
