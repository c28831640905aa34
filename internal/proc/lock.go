package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// FileLock is an exclusive lock that the system gives back when the process
// ends, however it ends. The file stays, also afterwards; its content (the
// holder's pid) is only for people.
type FileLock struct{ f *os.File }

// HeldError says that somebody else has the lock.
type HeldError struct {
	Path string
	// PID is what the holder wrote into the file, 0 when it wrote nothing.
	PID int
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("%s is locked by process %d", e.Path, e.PID)
}

// Lock takes the lock on path, made (0600) when missing, without waiting. When
// another process has it, the error is a *HeldError.
func Lock(path string) (*FileLock, error) {
	l, f, err := tryLock(path)
	if err != nil || l != nil {
		return l, err
	}
	defer f.Close()
	return nil, &HeldError{Path: path, PID: holder(f)}
}

// tryLock takes the lock, or gives the file that somebody else has locked.
func tryLock(path string) (*FileLock, *os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("lock: %w", err)
	}
	got, err := flock(f, unix.LOCK_EX)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	if !got {
		return nil, f, nil
	}
	// On a full disk the name is not written; the lock holds all the same.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &FileLock{f: f}, nil, nil
}

// Unlock gives the lock back. It says so to the system: to close the file is not
// enough while a child has it, from its fork to its exec.
func (l *FileLock) Unlock() error {
	return errors.Join(unix.Flock(int(l.f.Fd()), unix.LOCK_UN), l.f.Close())
}

// holder reads the pid of whoever has the lock. Between taking the lock and
// writing the name lies a moment, so an empty file is read again.
func holder(f *os.File) int {
	var b [32]byte
	for range 20 {
		n, err := f.ReadAt(b[:], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0
		}
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:n]))); err == nil {
			return pid
		}
		time.Sleep(time.Millisecond)
	}
	return 0
}

// tryShared looks whether a lock is free, and keeps it shared until unlock is
// called. Lookers do not hinder each other; whoever wants the lock for itself
// must expect a looker for a moment.
func tryShared(path string) (free bool, unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDONLY|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return true, func() {}, nil // a link or a socket: nobody can hold it
	}
	if err != nil {
		return false, func() {}, err
	}
	free, err = flock(f, unix.LOCK_SH)
	return free, func() { f.Close() }, err
}

func flock(f *os.File, how int) (got bool, err error) {
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}
