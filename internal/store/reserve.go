package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cw/internal/cw"
)

const (
	// reserveUsual is the space that is set aside for the state, reserveSmall
	// what is on a disk of less than smallSize bytes.
	reserveUsual = 8 << 20
	reserveSmall = 2 << 20
	smallSize    = 64 << 20
	// reserveSlice is how much is given up at once: agents that write take what
	// is free, too, so that not all of it goes at the first transaction.
	reserveSlice = 1 << 20
	// reserveSlack is what must be free beside the reserve when it is made again.
	reserveSlack = 1 << 20
	// reserveEvery is the least time between two tries to make it again.
	reserveEvery = time.Second
)

// reserve is a file that only takes space. When the disk is full a piece of it
// is given up for each transaction of the state. Until it is whole again
// nothing else of the store takes space: output waits in its raw files.
//
// A nil reserve keeps nothing and allows everything.
type reserve struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	tried time.Time // guarded by mu: when it was last made
	whole bool      // guarded by mu
	spent bool      // guarded by mu: some was given up since it was last whole
}

func newReserve(path string, now func() time.Time) *reserve {
	if path == "" {
		return nil
	}
	return &reserve{path: path, now: now}
}

// giveUp frees a piece; false: there was none left.
func (r *reserve) giveUp() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole, r.spent = false, true
	info, err := os.Lstat(r.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	return os.Truncate(r.path, max(0, info.Size()-reserveSlice)) == nil
}

// keep makes the reserve whole, where the disk has the space. It tells whether
// it is, and looks again only after a while.
func (r *reserve) keep() bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if since := now.Sub(r.tried); r.whole || since >= 0 && since < reserveEvery {
		return r.whole
	}
	r.tried = now
	r.whole = r.fill() == nil
	r.spent = r.spent && !r.whole
	return r.whole
}

// touched tells whether some of it was given up and is not there again: what is
// free on the disk is for the state then, and nothing else may take it.
func (r *reserve) touched() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent
}

// fill writes what is missing. Zeros are written out: a promise without a write
// (fallocate) is not kept by every file system.
func (r *reserve) fill() error {
	want, free, err := r.disk()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("open the reserve: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() >= want {
		return err
	}
	if missing := want - info.Size(); free < missing+reserveSlack {
		return syscall.ENOSPC
	}
	if _, err := f.WriteAt(make([]byte, want-info.Size()), info.Size()); err != nil {
		return errors.Join(err, f.Truncate(info.Size()))
	}
	return nil
}

// disk gives the size that the reserve is to have and the free space beside it.
func (r *reserve) disk() (want, free int64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(r.path), &st); err != nil {
		return 0, 0, fmt.Errorf("look at the disk: %w", err)
	}
	want = reserveUsual
	if int64(st.Blocks)*int64(st.Bsize) < smallSize { //nolint:unconvert // other systems have other types
		want = reserveSmall
	}
	return want, int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // other systems have other types
}

// ReserveWhole tells whether a reserve of so many bytes is as large as it is to
// be on its disk.
func ReserveWhole(path string, size int64) bool {
	want, _, err := (&reserve{path: path}).disk()
	return err == nil && size >= want
}

// KeepReserve sets space aside for the state, again after some of it was given
// up. It tells whether all of it is there.
func (db *DB) KeepReserve() bool { return db.reserve.keep() }

// diskFull tells whether a transaction failed for want of space.
func diskFull(err error) bool {
	var sqlErr *sqlite.Error
	if !errors.As(err, &sqlErr) {
		return false
	}
	switch sqlErr.Code() {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_WRITE: // a quota is told as the last
		return true
	}
	return false
}

// outputWaits is what a writer of output is told while the state alone may take
// space.
func outputWaits(path string) error {
	return cw.Errorf(cw.CodeFailed, "the disk that holds %s is full", filepath.Base(path)).
		WithHint("free space on the file system of %s; agents run on, and their output is taken from its files afterwards", filepath.Dir(path))
}
